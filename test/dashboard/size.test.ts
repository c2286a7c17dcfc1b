import { expect, test } from 'vitest'
import { buildDashboard } from '../../packages/dashboard/building/build.ts'
import { firstPageBytesMax, readFirstPageScripts } from '../support/first-page.ts'

test('the first page of the dashboard loads few scripts, and no script that only other pages need', async () => {
  await buildDashboard()
  const scripts = readFirstPageScripts()
  const bytes = [...scripts.values()].reduce((sum, one) => sum + one, 0)
  expect(bytes, 'it runs something').toBeGreaterThan(10_000)
  expect(bytes).toBeLessThan(firstPageBytesMax)
  expect([...scripts.keys()].filter((name) => /^(?:markdown|chart|browser|.*-pages?-)/.test(name))).toEqual([])
})
