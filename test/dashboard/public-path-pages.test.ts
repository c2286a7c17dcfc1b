import { expect, test } from 'vitest'
import { describeBrowser, browse } from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'
import { openPathProxy, type PathMode } from '../support/path-proxy.ts'
import { publishBelow } from '../support/public-path-acts.ts'

const modes: readonly PathMode[] = ['strips', 'keeps']

describeBrowser('the dashboard below a path', () => {
  test.each(modes)('loads, navigates, signs in and reloads a page behind a proxy that %s the path', async (mode) => {
    const { url, origin, key } = await publishBelow(openPathProxy, mode)
    const page = await browse(origin, '/skills/')
    const links = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((one) => one.getAttribute('href')!))
    expect(links.filter((href) => !href.startsWith('/skills/'))).toEqual([])
    expect(links).toContain('/skills/packs')

    await page.getByRole('link', { name: 'pdf' }).first().click()
    await page.waitForURL(`${url}/skills/alice/pdf`)
    await page.getByText('Reads them.').waitFor()
    await page.getByRole('link', { name: 'All ways to install' }).click()
    await page.waitForURL(`${url}/skills/alice/pdf/install?agent=any`)
    await page.getByText(`--url ${url}`).first().waitFor()
    await page.reload()
    await page.getByText(`--url ${url}`).first().waitFor()
    await page.goBack()
    await page.getByText('Reads them.').waitFor()

    await page.getByRole('link', { name: 'Sign in' }).first().click()
    await page.waitForURL(`${url}/account/sign-in?next=%2Fskills%2Falice%2Fpdf`)
    await page.getByLabel('API key').fill(key)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${url}/skills/alice/pdf`)
    const menu = page.getByRole('button', { name: 'Menu of alice' })
    await menu.click()
    await page.getByRole('link', { name: 'Operate' }).click()
    await page.waitForURL(`${url}/admin`)
    await page.getByRole('link', { name: 'Storage' }).click()
    await page.waitForURL(`${url}/admin/storage`)
    await page.reload()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await settle(page)
    await expect.poll(() => page.getByRole('link', { name: 'Storage' }).getAttribute('aria-current')).toBe('page')
    const [cookie] = await page.context().cookies(url)
    expect(cookie).toMatchObject({ name: 'skillstead-session', path: '/skills' })

    await page.keyboard.press('Control+k')
    await page.getByRole('option', { name: 'API reference' }).click()
    await page.waitForURL(`${url}/docs/api`)
    await page.goBack()

    await menu.click()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.waitForURL(`${url}/account`)
    const picture = page.getByAltText('Your picture')
    await expect.poll(() => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBeGreaterThan(0)
    await menu.click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    expect(await page.context().cookies(url)).toEqual([])
  })
})
