import { expect, test } from 'vitest'
import { describeBrowser, goWithin, visit } from '../support/browser-harness.ts'

describeBrowser('the request allowance of a dashboard reader', () => {
  test('is charged one request for each page, whether loaded as a document or within the app', async () => {
    const { open, get } = await visit({ rates: { anonymous: 100 } })
    const read = async () => Number((await get('/packs')).headers.get('x-ratelimit-remaining'))
    const page = await open('/skills/alice/pdf')
    await page.waitForLoadState('networkidle')
    expect(await read()).toBe(98)
    await goWithin(page, '/skills/alice/pdf/versions')
    await page.waitForLoadState('networkidle')
    expect(await read()).toBe(96)
  })
})
