import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, goWithin, takePicture, visit } from '../support/browser-harness.ts'

describeBrowser('the dashboard', () => {
  test('shows the catalogue and the name of the signed-in user', async () => {
    const { open, openSignedIn } = await visit()
    const page = await open('/')
    await page.getByRole('link', { name: 'alice/pdf' }).first().waitFor()
    await takePicture(page, 'catalogue')
    const mine = await openSignedIn('/')
    // The heading appears before the session is loaded.
    await mine.getByRole('button', { name: 'Menu of alice' }).click()
    await expect.poll(() => mine.getByRole('link', { name: 'alice', exact: true }).count()).toBe(1)
  })

  test('has a title, one main heading and no accessibility violation on every public page, in both colour schemes', async () => {
    const { open, api } = await visit()
    await api.createPack({ slug: 'office', name: 'Office', description: 'For paper', skills: [{ name: 'alice/pdf' }] })
    const agentKey = 'claude-code:1'
    await api.registerAgent({ agentKey, displayName: 'Claude', platformId: 'claude-code' })
    const request = await api.createRequest({ title: 'Read scans', description: 'Of letters' })
    const paths =
      `/ /?q=pdf /?q=nothing-like-it /skills/alice/pdf /skills/alice/pdf/nothing /packs /packs/office /trending
      /agents /agents/${agentKey} /users /users/alice /requests /requests?id=${request.id} /external /takedowns /account
      /account/sign-in /account/setup /device /admin /docs /docs/cli /docs/api /docs/api/getSkill /docs?q=proxy /nowhere`.split(
        /\s+/,
      )
    const page = await open('/', { expectedStatuses: [404] })
    const titles = new Set<string>()
    for (const path of paths) {
      await goWithin(page, path)
      expect([path, await page.getByRole('heading', { level: 1 }).count()]).toEqual([path, 1])
      expect([path, await findBarriers(page)]).toEqual([path, []])
      titles.add(await page.title())
    }
    // All searches share one title, and so do all pages that require a login.
    expect(titles.size).toBeGreaterThan(paths.length - 6)
  })
})
