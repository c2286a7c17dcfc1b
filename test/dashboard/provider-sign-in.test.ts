import { expect, test } from 'vitest'
import { findDashboard } from '../../packages/cli/src/serving/dashboard-files.ts'
import { findBarriers } from '../support/axe-barriers.ts'
import { browse, describeBrowser, takePicture } from '../support/browser-harness.ts'
import { ensureBuilt } from '../support/browser-windows.ts'
import { startWithProvider } from '../support/identity-node.ts'

describeBrowser('the sign-in by an identity provider', () => {
  test('leads to the provider and back to the page, shows the session, and signs out of the node and the provider', async () => {
    await ensureBuilt()
    const fixture = await startWithProvider({ listening: { dashboard: findDashboard() } })
    const other = await fixture.as('alice')
    const page = await browse(fixture.node.url, '/account/sign-in?next=%2Faccount%2Fsessions', {
      leadsTo: fixture.issuer,
    })
    const button = page.getByRole('button', { name: /^Sign in with 127\.0\.0\.1:\d+$/ })
    await button.waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'provider-sign-in')
    await button.click()
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.getByText('this browser').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'sessions')
    await page.getByRole('button', { name: 'End', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
    await expect.poll(() => other.whoAmI()).toBe(401)
    await page.getByRole('button', { name: 'Menu of alice' }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Leave the provider' }).click()
    await page.getByRole('link', { name: 'Sign in' }).first().waitFor()
    expect(page.url()).toBe(`${fixture.node.url}/`)
    expect((await fixture.api.listSessions({ username: 'alice' })).total).toBe(0)
  })
})
