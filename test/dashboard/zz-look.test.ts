import { test } from 'vitest'
import { describeBrowser, visit } from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'
describeBrowser('look', () => {
  test('x', async () => {
    const v = await visit()
    const page = await v.openSignedIn('/docs')
    for (const [w, h] of [
      [1280, 900],
      [390, 800],
    ]) {
      await page.setViewportSize({ width: w!, height: h! })
      for (const p of [
        '/docs',
        '/docs/deploy',
        '/docs/api',
        '/docs/api/searchSkills',
        '/docs/api/publishSkill',
        '/docs/figures',
        '/docs?q=reverse+proxy',
        '/docs/packages-core',
        '/docs/nothing',
      ]) {
        await page.goto(v.node.url + p)
        await settle(page)
        await page.waitForTimeout(700)
        await page.screenshot({ path: `/tmp/shots/${w}${p.replaceAll(/\W+/g, '-')}.png` })
        console.log(p, await page.title(), await page.evaluate(() => document.documentElement.scrollWidth))
      }
    }
    await page.goto(v.node.url + '/docs/api/searchSkills')
    await settle(page)
    await page.screenshot({ path: `/tmp/shots/full.png`, fullPage: true })
  }, 120000)
})
