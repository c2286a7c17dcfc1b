import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { selectVisible } from '../../packages/core/src/search/visible-skills.ts'
import { openDatabase } from '../support/open-registry.ts'

it('lists are counted and sorted by indexes, not by the rows of all skills', async () => {
  const database = await openDatabase({ path: ':memory:' })
  onTestFinished(() => database.close())
  for (const viewer of [null, 'a-user']) {
    const visible = selectVisible(database, viewer, { includeStubs: false })
    const orders = ['downloads', 'published_at', 'stars'] as const
    const lists = orders.map((order) => visible.select('num').orderBy(order, 'desc').orderBy('full_name').limit(20))
    for (const query of [...lists, visible.select((eb) => eb.fn.countAll().as('total'))]) {
      const [first] = await query.explain<{ detail: string }>(undefined, sql`query plan`)
      expect(first!.detail).toMatch(/^SCAN skills USING (?:COVERING )?INDEX skills_(listed|shown)$/)
    }
  }
})
