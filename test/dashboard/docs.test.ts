import { expect, test } from 'vitest'
import { browse, describeBrowser, visit } from '../support/browser-harness.ts'
import { settle } from '../support/browser-windows.ts'
import { openPathProxy, type PathMode } from '../support/path-proxy.ts'
import { publishBelow } from '../support/public-path-acts.ts'

const modes: readonly PathMode[] = ['strips', 'keeps']

describeBrowser('the documentation', () => {
  test('leads from guide to guide and to their sections, with highlighted code', async () => {
    const { open, node } = await visit()
    const page = await open('/docs')
    await page.locator('article').getByRole('link', { name: 'Deploying a node' }).click()
    await page.getByRole('heading', { level: 1, name: 'Deploying a node' }).waitFor()
    await expect.poll(() => page.title()).toBe('Deploying a node · Skillstead')
    await expect.poll(() => page.locator('.docs nav [aria-current]').textContent()).toBe('Deploying a node')
    await page.getByText('Contents').click()
    await page.locator('.contents').getByRole('link', { name: 'Below a path' }).click()
    expect(page.url()).toBe(`${node.url}/docs/deploy#readme-below-a-path`)
    await expect.poll(() => page.locator('[id="readme-below-a-path"]').textContent()).toBe('Below a path')
    const hrefs = await page
      .locator('.markdown a[href]')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href')!))
    expect(
      hrefs.filter((href) => !/^(?:\/docs\/[\w-]+(?:#readme-[\w-]+)?|#readme-[\w-]+|https:\/\/.+)$/.test(href)),
    ).toEqual([])
    expect(hrefs).toContain('/docs/configuration#readme-settings')
    await page.goto(`${node.url}/docs/webhooks`)
    await page.locator('.code-keyword').first().waitFor()
    await page.goto(`${node.url}/docs/figures`)
    const picture = page.locator('.markdown img')
    // Its place is kept before it is loaded.
    const readWidth = () => picture.evaluate((one: HTMLImageElement) => one.naturalWidth)
    await expect.poll(readWidth, { timeout: 20_000 }).toBeGreaterThan(0)
  })

  test('hides its list of guides on a phone when a guide is chosen, and shows the list in a wide window', async () => {
    const { open } = await visit()
    const page = await open('/docs/cli', { viewport: { width: 390, height: 800 } })
    const guide = page.locator('.docs nav').getByRole('link', { name: 'Deploying a node' })
    await page.getByText('All guides').click()
    await guide.click()
    await page.getByRole('heading', { level: 1, name: 'Deploying a node' }).waitFor()
    await expect.poll(() => guide.isVisible()).toBe(false)
    await page.setViewportSize({ width: 1280, height: 800 })
    await page.getByText('All guides').click()
    await expect.poll(() => guide.isVisible()).toBe(true)
  })

  test('finds sections of guides and endpoints, also with hostile and very long queries', async () => {
    const { open, node } = await visit()
    const page = await open('/docs')
    await page.getByLabel('Search the docs').fill('standard webhooks signature')
    await page.getByRole('list', { name: 'Results' }).getByRole('link').first().waitFor()
    expect(page.url()).toBe(`${node.url}/docs?q=standard+webhooks+signature`)
    const first = await page.getByRole('list', { name: 'Results' }).getByRole('listitem').first().textContent()
    expect(first).toMatch(/Webhooks|Receiver/)
    await page.getByLabel('Search the docs').fill('searchSkills')
    await page.getByRole('link', { name: 'searchSkills', exact: true }).click()
    await page.getByRole('heading', { level: 1, name: 'searchSkills' }).waitFor()
    await expect.poll(() => page.getByLabel('Search the docs').inputValue()).toBe('')
    for (const q of [
      '<img src=x onerror=alert(1)>',
      'a '.repeat(2000),
      '"((((',
      '__proto__',
      '\u202E\u0000',
      '\uD83D',
    ]) {
      await page.goto(`${node.url}/docs/deploy?q=${encodeURIComponent(q.toWellFormed())}`)
      await settle(page)
      await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Search results')
      await expect.poll(() => page.locator('main img, main script').count()).toBe(0)
    }
  })

  test('shows each endpoint with examples for this node, and sends requests with the session of the reader', async () => {
    const { open, openSignedIn, node } = await visit()
    const guest = await open('/docs/api/getMe', { expectedStatuses: [401] })
    await guest.getByText(`curl '${node.url}/api/v1/users/me'`).waitFor()
    await guest.getByText('Try it').click()
    await expect.poll(() => guest.getByText('Sent to this node without a key.').count()).toBe(1)
    await guest.getByRole('button', { name: 'Send GET' }).click()
    await guest.getByRole('alert').waitFor()

    const page = await openSignedIn('/docs/api/getSkill', { expectedStatuses: [404] })
    await page.getByText('Try it').click()
    await page.getByText('Sent to this node as alice.').waitFor()
    await page.getByRole('button', { name: 'Send GET' }).click()
    const answer = page.getByLabel('Answer', { exact: true })
    expect(JSON.parse((await answer.textContent())!)).toMatchObject({ fullName: 'alice/pdf' })
    await page.getByLabel('name').fill('alice/none')
    await page.getByRole('button', { name: 'Send GET' }).click()
    await page.getByRole('alert').waitFor()
    await expect.poll(() => answer.count()).toBe(0)

    await page.goto(`${node.url}/docs/api/getSkillMd`)
    await page.getByText('Try it').click()
    await page.getByRole('button', { name: 'Send GET' }).click()
    await expect.poll(() => answer.textContent()).toContain('name: pdf')

    await page.goto(`${node.url}/docs/api/createPack`)
    const fields = { slug: 'office', name: 'Office', description: 'For paper', skills: '["alice/pdf"]' }
    await page.getByText('Try it').click()
    await page.getByText('it changes what the node stores').waitFor()
    for (const [label, value] of Object.entries(fields)) {
      await expect.poll(() => page.getByLabel(label, { exact: true }).inputValue()).toBe('')
      await page.getByLabel(label, { exact: true }).fill(value)
    }
    await page.getByRole('button', { name: 'Send POST' }).click()
    expect(JSON.parse((await answer.textContent())!)).toMatchObject({
      slug: 'office',
      skills: [{ fullName: 'alice/pdf' }],
    })
  })

  test('is shown to guests of a private node', async () => {
    const { open, node } = await visit({ requireKey: true })
    const page = await open('/docs/deploy', { expectedStatuses: [401] })
    await page.getByText('A node is one process').waitFor()
    await page.goto(`${node.url}/docs/api/getSkill`)
    await page.getByText('Try it').click()
    await expect.poll(() => page.getByText('Sent to this node without a key.').isVisible()).toBe(true)
  })

  test('shows an error at an address without a guide or endpoint', async () => {
    const { open, node } = await visit()
    const page = await open('/docs', { expectedStatuses: [404] })
    for (const path of [
      '/docs/nothing',
      '/docs/a/b/c',
      '/docs/..%2findex',
      '/docs/api/nothing',
      '/docs/api/getSkill/x',
    ]) {
      await page.goto(node.url + path)
      await settle(page)
      expect([path, await page.getByRole('heading', { level: 1 }).textContent()]).toEqual([path, 'Nothing here'])
    }
  })

  test.each(modes)('works below a path behind a proxy that %s it', async (mode) => {
    const { url, origin } = await publishBelow(openPathProxy, mode)
    const page = await browse(origin, '/skills/docs')
    await page.locator('article').getByRole('link', { name: 'Deploying a node' }).click()
    await page.waitForURL(`${url}/docs/deploy`)
    await page.locator('.markdown').getByRole('link', { name: 'configuration', exact: false }).first().click()
    await page.waitForURL(/\/skills\/docs\/configuration/)
    await page.goto(`${url}/docs/api/getSkill`)
    await page.getByText(`curl '${url}/api/v1/skills/alice%2Fpdf'`).waitFor()
    await page.getByText('Try it').click()
    await page.getByRole('button', { name: 'Send GET' }).click()
    await expect.poll(() => page.getByLabel('Answer', { exact: true }).textContent()).toContain('alice/pdf')
  })
})
