import { expect, test } from 'vitest'
import { describeBrowser, findBarriers, takePicture, visit } from './browser-harness.ts'

describeBrowser('the dashboard', () => {
  test('shows the catalogue, and who is signed in', async () => {
    const { open, openSignedIn } = await visit()
    const page = await open('/')
    await page.getByRole('link', { name: 'alice/pdf' }).waitFor()
    expect(await findBarriers(page)).toEqual([])
    await takePicture(page, 'catalogue')
    const mine = await openSignedIn('/')
    expect(await mine.getByRole('link', { name: 'alice', exact: true }).count()).toBe(1)
  })
})
