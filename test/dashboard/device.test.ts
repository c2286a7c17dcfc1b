import { expect, test } from 'vitest'
import { findBarriers } from '../support/axe-barriers.ts'
import { describeBrowser, takePicture, visit } from '../support/browser-harness.ts'

async function requestCode(url: string): Promise<{ user_code: string; device_code: string }> {
  const body = JSON.stringify({ label: 'laptop <b>' })
  const response = await fetch(`${url}/api/cli/device/code`, { method: 'POST', body })
  return (await response.json()) as { user_code: string; device_code: string }
}

describeBrowser('the page on which a program is signed in', () => {
  test('asks for a sign-in, refuses a wrong code, and gives the program a key', async () => {
    const { open, openSignedIn, node, api } = await visit()
    const guest = await open('/device')
    // The heading appears before the session is known.
    await guest.getByRole('main').getByText('first, then enter its code here.').waitFor()

    const page = await openSignedIn('/device', { expectedStatuses: [400] })
    await page.getByLabel('Code').fill('BBBB-BBBB')
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('No sign-in with this code is pending.')
    const { user_code } = await requestCode(node.url)
    await page.getByLabel('Code').fill(user_code.toLowerCase())
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('laptop <b>').waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'device')
    expect((await api.listApiKeys()).apiKeys.map(({ name }) => name)).not.toContain('signed in: laptop <b>')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('The program is signed in').waitFor()
    expect((await api.listApiKeys()).apiKeys[0]!.name).toBe('signed in: laptop <b>')
  })

  test('denies a program', async () => {
    const { openSignedIn, node, api } = await visit()
    const { total } = await api.listApiKeys()
    const { user_code } = await requestCode(node.url)
    const page = await openSignedIn('/device')
    await page.getByLabel('Code').fill(user_code)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('The program was denied.').waitFor()
    expect((await api.listApiKeys()).total).toBe(total)
  })
})
