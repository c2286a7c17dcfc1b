import { expect, test } from 'vitest'
import { browse, describeBrowser, takePicture, visit } from '../support/browser-harness.ts'
import { png } from '../support/image-bytes.ts'
import { openPathProxy, type PathMode } from '../support/path-proxy.ts'
import { publishBelow } from '../support/public-path-acts.ts'

const secretMd = '---\nname: secret\ndescription: Hidden words\n---\n# Secret\n\nKeeps them.\n'
const modes: readonly PathMode[] = ['strips', 'keeps']

describeBrowser('a browser', () => {
  test('opens the skill of a share link, in this window only and without the token in the address', async () => {
    const { api, node, open } = await visit()
    await api.publishSkill({ skillMd: secretMd, version: '1.0.0', visibility: 'private' })
    const { token } = await api.createShare({ name: 'secret' })
    const page = await open(`/t/${token}`, { expectedStatuses: [404] })
    await page.getByText('Keeps them.').waitFor()
    expect(page.url()).toBe(`${node.url}/skills/alice/secret`)
    await expect.poll(() => page.title()).toBe('alice/secret · Skillstead')
    await page.getByRole('link', { name: 'Files' }).click()
    await page.getByText('SKILL.md').first().waitFor()
    await page.reload()
    await page.getByText('SKILL.md').first().waitFor()
    const other = await open('/skills/alice/secret', { expectedStatuses: [404] })
    await other.getByRole('alert').waitFor()
    await expect.poll(() => other.getByText('Hidden words').count()).toBe(0)
  })

  test('downloads and shows the files of a shared skill, which need the token of the link', async () => {
    const { api, open } = await visit()
    const picture = { path: 'pot.png', content: png().toString('base64'), encoding: 'base64' as const }
    await api.publishSkill({
      skillMd: `${secretMd}\n![pot](pot.png)\n`,
      version: '1.0.0',
      visibility: 'private',
      files: [picture],
    })
    const { token } = await api.createShare({ name: 'secret' })
    const page = await open(`/t/${token}`)
    const takeName = async (link: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: link, exact: true }).click(),
      ])
      expect(await download.failure()).toBeNull()
      return download.suggestedFilename()
    }
    const widthOf = (name: string) =>
      page.getByAltText(name).evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth)
    await expect.poll(() => widthOf('pot')).toBe(1)
    expect(await takeName('Download SKILL.md')).toBe('SKILL.md')
    expect(await takeName('bill of materials')).toBe('secret-1.0.0.cdx.json')
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    expect(await takeName('Download all as a zip')).toBe('secret-1.0.0.zip')
    await page.getByRole('link', { name: 'pot.png' }).click()
    await expect.poll(() => widthOf('pot.png')).toBe(1)
    expect(await takeName('Download')).toBe('pot.png')
  })

  test('reads with a share link and writes with the session, until the link is revoked or the user signs out', async () => {
    const { api, node, key, open } = await visit()
    await api.publishSkill({ skillMd: secretMd, version: '1.0.0', visibility: 'private' })
    const { token, id } = await api.createShare({ name: 'secret' })
    const page = await open(`/t/${token}`, { expectedStatuses: [404] })
    await page.getByText('Keeps them.').waitFor()
    const signInAt = async () => {
      await page.goto(`${node.url}/account/sign-in?next=/skills/alice/secret`)
      await page.getByLabel('API key').fill(key)
      await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
    }
    await signInAt()
    await page.getByRole('button', { name: '☆ Star · 0' }).click()
    await page.getByRole('button', { name: '★ Starred · 1' }).waitFor()
    await api.deleteShare({ name: 'secret', id })
    await page.reload()
    await page.getByText('Keeps them.').waitFor()
    const second = await api.createShare({ name: 'secret' })
    await page.goto(`${node.url}/t/${second.token}`)
    await page.getByText('Keeps them.').waitFor()
    await page.getByRole('button', { name: 'Menu of alice' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    await page.goto(`${node.url}/skills/alice/secret`)
    await page.getByRole('alert').waitFor()
    await expect.poll(() => page.getByText('Keeps them.').count()).toBe(0)
  })

  test('shows install commands with the token of a share link, and the tab of similar skills', async () => {
    const { api, node, open } = await visit()
    await api.publishSkill({ skillMd: secretMd, version: '1.0.0', visibility: 'private' })
    const { token } = await api.createShare({ name: 'secret' })
    const page = await open(`/t/${token}`)
    const box = page.getByRole('region', { name: 'Install' })
    await box.getByText(`npx skills add ${node.url}/t/${token}`, { exact: true }).waitFor()
    await box.getByRole('combobox').selectOption('codex')
    await box.getByText(`npx skills add ${node.url}/t/${token} --agent codex`).waitFor()
    await page.getByRole('link', { name: 'All ways to install' }).click()
    await page.getByRole('link', { name: 'zip' }).click()
    await page.getByText(`-H 'X-Share-Token: ${token}'`).waitFor()
    await page.getByRole('link', { name: 'Similar', exact: true }).click()
    await page.getByText('No pack that you can see has it.').waitFor()
    await expect.poll(() => page.getByText('$SKILLSTEAD_KEY').count()).toBe(0)
  })

  test('offers only install commands with an API key on a private node', async () => {
    const { openSignedIn } = await visit({ requireKey: true })
    const page = await openSignedIn('/skills/alice/pdf/install')
    await page.getByText('This node is private. Run').waitFor()
    await page.getByText('curl -fL -H "Authorization: Bearer $SKILLSTEAD_KEY"').first().waitFor()
    await expect.poll(() => page.getByText('npx skills add').count()).toBe(0)
  })

  test('opens the skill of a share link on a private node, and nothing else of the node', async () => {
    const { api, node, open } = await visit({ requireKey: true })
    await api.publishSkill({ skillMd: secretMd, version: '1.0.0', visibility: 'private' })
    const { token, id } = await api.createShare({ name: 'secret' })
    const page = await open(`/t/${token}`, { expectedStatuses: [401] })
    await page.getByText('Keeps them.').waitFor()
    expect(page.url()).toBe(`${node.url}/skills/alice/secret`)
    await page.getByRole('region', { name: 'Install' }).getByText(`npx skills add ${node.url}/t/${token}`).waitFor()
    await page.getByRole('link', { name: 'Files', exact: true }).click()
    await page.getByRole('link', { name: 'SKILL.md' }).first().waitFor()
    await page.getByRole('link', { name: 'Versions', exact: true }).click()
    await page.getByRole('main').getByText('1.0.0').first().waitFor()
    await page.goto(`${node.url}/packs`)
    await page.getByRole('heading', { name: 'This node is private' }).waitFor()
    await api.deleteShare({ name: 'secret', id })
    await page.goto(`${node.url}/skills/alice/secret`)
    await page.getByRole('main').getByRole('link', { name: 'Sign in' }).waitFor()
    await expect.poll(() => page.getByText('Keeps them.').count()).toBe(0)
    const ended = await open(`/t/${token}`, { expectedStatuses: [404] })
    await ended.getByText('does not exist or has expired').waitFor()
  })

  test('shows pictures of people on a private node', async () => {
    const { openSignedIn } = await visit({ requireKey: true })
    const page = await openSignedIn('/users/alice')
    const width = () =>
      page.locator('.person img').evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth)
    await expect.poll(width).toBeGreaterThan(0)
    await page.goto(new URL('/account', page.url()).href)
    await page.getByRole('img', { name: 'Your picture' }).waitFor()
    const own = () => page.getByAltText('Your picture').evaluate((one: HTMLImageElement) => one.naturalWidth)
    await expect.poll(own).toBeGreaterThan(0)
  })

  test('shows that a share link is invalid', async () => {
    const { open } = await visit()
    const page = await open('/t/ssl_none', { expectedStatuses: [404] })
    await expect.poll(() => page.getByRole('heading', { level: 1 }).textContent()).toBe('Nothing here')
  })

  test.each(modes)(
    'finds skills and authors at their names below /skills, behind a proxy that %s the path',
    async (mode) => {
      const { url, origin } = await publishBelow(openPathProxy, mode)
      const page = await browse(origin, '/skills/alice/pdf')
      await page.getByText('Reads them.').waitFor()
      expect(page.url()).toBe(`${url}/skills/alice/pdf`)
      await page.goto(`${url}/alice`)
      await page.waitForURL(`${url}/users/alice`)
      await page.getByRole('link', { name: 'pdf' }).first().waitFor()
    },
  )

  test('finds the sign-in page of a private node at the addresses of its skills', async () => {
    const { open, openSignedIn, node } = await visit({ requireKey: true })
    const page = await open('/alice/pdf', { expectedStatuses: [401] })
    await page.getByRole('heading', { name: 'This node is private' }).waitFor()
    // Pictures of users, which a browser asks for without the header of a session.
    const own = await openSignedIn('/alice/pdf', { expectedStatuses: [401] })
    await own.getByText('Reads them.').waitFor()
    expect(own.url()).toBe(`${node.url}/skills/alice/pdf`)
    await own.goto(`${node.url}/alice`)
    await own.waitForURL(`${node.url}/users/alice`)
  })

  test("shows the operator's name, text and logo", async () => {
    const logo = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4"/></svg>',
    )
    const { open } = await visit({ site: { name: 'Acme <b>Skills</b>', text: 'What our agents know.', logo } })
    const page = await open('/')
    await expect.poll(() => page.title()).toBe('Find a skill for your agent · Acme <b>Skills</b>')
    await page.getByRole('banner').getByRole('link', { name: 'Acme <b>Skills</b>' }).waitFor()
    await page.getByRole('main').getByText('What our agents know.').waitFor()
    const picture = page.locator('.brand img')
    await expect
      .poll(() => picture.evaluate((one: HTMLImageElement) => one.complete && one.naturalWidth > 0))
      .toBe(true)
    await takePicture(page, 'site')
  })
})
