import { sql } from 'kysely'
import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { expect, it, onTestFinished } from 'vitest'
import { countVisible, selectVisible } from '../../packages/core/src/search/database/visible-skills.ts'
import { skillMd } from '../support/answers.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { countQueries } from '../support/count-queries.ts'
import { describeDatabases } from '../support/harness.ts'
import { openDatabase } from '../support/open-registry.ts'

it('lists are counted and sorted by indexes, not by the rows of all skills', async () => {
  const database = await openDatabase({ path: ':memory:' })
  onTestFinished(() => database.close())
  for (const viewer of [null, 'a-user']) {
    const visible = selectVisible(database, viewer, { includeStubs: false })
    const orders = ['downloads', 'published_at', 'stars', 'effect_low'] as const
    const lists = orders.map((order) => visible.select('num').orderBy(order, 'desc').orderBy('full_name').limit(20))
    for (const query of [...lists, visible.select((eb) => eb.fn.countAll().as('total'))]) {
      const [first] = await query.explain<{ detail: string }>(undefined, sql`query plan`)
      expect(first!.detail).toMatch(/^SCAN skills USING (?:COVERING )?INDEX skills_(listed|shown)$/)
    }
  }
})

describeDatabases('the database indexes of skills', (open, dialect) => {
  it.skipIf(dialect !== 'PostgreSQL')(
    'contain no column that a new version changes, so that PostgreSQL need not write all indexes again',
    async () => {
      const test = await open()
      const alice = await test.makeUser('alice')
      const { read } = partsOf(test.registry).database
      const publish = async (version: string) => {
        test.clock.advance(1000)
        await alice.api.publishSkill({ skillMd: skillMd('tool', { body: `Release ${version}.` }), version })
        return read.selectFrom('skills').selectAll().executeTakeFirstOrThrow()
      }
      const first = await publish('1.0.0')
      const changed = Object.entries(await publish('1.0.1')).filter(([name, value]) => value !== first[name as 'num'])
      // The columns of keys, and those that conditions mention.
      const { rows } = await sql<{ name: string }>`select distinct attname as name from pg_index
      left join pg_depend on classid = 'pg_class'::regclass and objid = indexrelid and refobjid = indrelid
      join pg_attribute on attrelid = indrelid and (attnum = any(indkey) or attnum = refobjsubid)
      where indrelid = 'skills'::regclass`.execute(read)
      const indexed = new Set(rows.map(({ name }) => name))
      expect([...indexed]).toEqual(expect.arrayContaining(['num', 'downloads', 'moderation', 'listed']))
      expect(changed.map(([name]) => name)).toContain('latest_version')
      expect(changed.filter(([name]) => indexed.has(name))).toEqual([])
    },
  )

  it.skipIf(dialect !== 'PostgreSQL')('are used for the first page of lists by downloads and by stars', async () => {
    const { database } = partsOf((await open()).registry)
    const plans = await database.read.connection().execute(async (read) => {
      // Otherwise PostgreSQL reads all rows of a small table.
      await sql`set enable_seqscan = off`.execute(read)
      await sql`set enable_sort = off`.execute(read)
      const listed = selectVisible({ read }, null, { includeStubs: false }).select('num')
      const first = (column: 'downloads' | 'stars') => listed.orderBy(column, 'desc').orderBy('full_name').limit(20)
      const found = [await first('downloads').explain(), await first('stars').explain()]
      await sql`reset all`.execute(read)
      return found.map((plan) => JSON.stringify(plan))
    })
    expect(plans).toEqual([expect.stringContaining('skills_listed'), expect.stringContaining('skills_starred')])
  })

  it('sort lists by the date of the latest version, in the same order in the database and in memory', async () => {
    const test = await open()
    const inDatabase = await open({ at: test.location, memorySkillsMax: 0 })
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    const publish = async (user: typeof alice, name: string, version: string) => {
      test.clock.advance(1000)
      await user.api.publishSkill({ skillMd: skillMd(name, { body: `Release ${version}.` }), version })
    }
    for (const name of ['a', 'b', 'c', 'd', 'e', 'hidden']) await publish(alice, name, '1.0.0')
    for (const name of ['b', 'd', 'e']) await publish(alice, name, '2.0.0')
    await publish(alice, 'a', '0.1.0')
    await publish(bob, 'f', '1.0.0')
    await alice.api.yankVersion({ name: 'd', version: '2.0.0' })
    await alice.api.yankVersion({ name: 'c', version: '1.0.0' })
    await alice.api.publishSkill({ name: 'hidden', visibility: 'private' })
    const list = async (of: typeof test, caller: string | undefined, page: number) => {
      const api = localApi(of.registry, caller === undefined ? guest : await of.registry.getCaller(caller))
      const { skills, total } = await api.searchSkills({ sort: 'recent', page, limit: 2 })
      return [total, ...skills.map(({ name }) => name)]
    }
    expect([await list(test, undefined, 1), await list(test, undefined, 2)]).toEqual([
      [5, 'f', 'e'],
      [5, 'b', 'd'],
    ])
    for (const caller of [undefined, 'alice', 'bob']) {
      for (const page of [1, 2, 3, 4]) {
        expect(await list(inDatabase, caller, page), `page ${page}`).toEqual(await list(test, caller, page))
      }
    }
  })

  it.skipIf(dialect !== 'PostgreSQL')(
    'give an estimated total for a list that has more skills than are counted exactly',
    async () => {
      const test = await open({ memorySkillsMax: 0 })
      const alice = await test.makeUser('alice')
      for (const name of ['a', 'b', 'c'])
        await alice.api.publishSkill({ skillMd: skillMd(name, { description: name }) })
      await alice.api.publishSkill({ skillMd: skillMd('mine'), visibility: 'private' })
      const { read } = partsOf(test.registry).database
      await sql`analyze skills`.execute(read)
      const list = async (
        input: { q?: string; limit?: number; category?: string; page?: number } = {},
        api = test.api(),
      ): Promise<unknown> => {
        const { total, totalPages, estimated } = await api.searchSkills({ limit: 100, ...input })
        return [total, totalPages, estimated]
      }
      expect(await list()).toEqual([3, 1, undefined])
      await sql`update pg_class set reltuples = 1234567 where oid = 'skills'::regclass`.execute(read)
      expect(await list(), 'as long as the last count was small').toEqual([3, 1, undefined])
      const node = await open({ memorySkillsMax: 0, at: test.location })
      const apiOfAlice = localApi(node.registry, await node.registry.getCaller('alice'))
      // Three of four skills are public.
      expect(await list({}, node.api())).toEqual([930_000, 9300, true])
      expect(await list({}, apiOfAlice)).toEqual([930_000, 9300, true])
      expect(await list({ page: 2 }, node.api())).toEqual([930_000, 9300, true])
      expect(await list({ q: 'mine' }, apiOfAlice), 'with a query').toEqual([1, 1, undefined])
      expect(await list({ category: 'none' }, node.api()), 'with a filter').toEqual([0, 0, undefined])
      await sql`update pg_class set reltuples = 130000 where oid = 'skills'::regclass`.execute(read)
      expect(await list({}, node.api()), 'below the limit').toEqual([3, 1, undefined])
    },
  )

  it.skipIf(dialect !== 'PostgreSQL')('need one query for a count, except for a node’s first count', async () => {
    const test = await open()
    const { read } = partsOf(test.registry).database
    const { api } = await test.makeUser('alice')
    for (const name of ['a', 'b', 'c']) await api.publishSkill({ skillMd: skillMd(name) })
    const { counted, count } = countQueries(test.registry)
    const { database } = partsOf(counted)
    const queriesOf = async (includeStubs: boolean) => {
      const before = count()
      const { estimated } = await countVisible(database, null, { includeStubs })
      return [count() - before, estimated]
    }
    const setSize = (rows: number) =>
      sql`update pg_class set reltuples = ${sql.lit(rows)} where oid = 'skills'::regclass`.execute(read)
    expect([await queriesOf(false), await queriesOf(false)]).toEqual([
      [2, undefined],
      [1, undefined],
    ])
    await sql`analyze skills`.execute(read)
    await setSize(1_234_567)
    expect([await queriesOf(true), await queriesOf(true)], 'a large one is not counted').toEqual([
      [1, true],
      [1, true],
    ])
    await setSize(1)
    expect([await queriesOf(true), await queriesOf(true)], 'one that has become small').toEqual([
      [2, undefined],
      [1, undefined],
    ])
  })

  it('omit skills that were withdrawn by a node of an older release', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('tool') })
    const { read, writer } = partsOf(test.registry).database
    const find = () => selectVisible({ read }, null, { includeStubs: false }).select('name').execute()
    expect(await find()).toEqual([{ name: 'tool' }])
    // It writes all columns as it read them.
    await writer.write((trx) => trx.updateTable('skills').set({ state: 'withdrawn', listed: 1 }).execute())
    expect(await find()).toEqual([])
    await writer.write((trx) => trx.updateTable('skills').set({ state: 'live', listed: 0 }).execute())
    expect(await find()).toEqual([{ name: 'tool' }])
  })

  it('count exactly the skills that a user may see', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    const all = ['public', 'internal', 'private'] as const
    for (const user of [alice, bob]) {
      for (const visibility of all) await user.api.publishSkill({ skillMd: skillMd(visibility), visibility })
    }
    await bob.api.publishSkill({ skillMd: skillMd('shared'), visibility: 'private' })
    await addCollaborator(test, bob, { name: 'shared', username: 'alice', role: 'read' })
    const { database } = partsOf(test.registry)
    const users = await database.read.selectFrom('users').select(['id', 'username']).execute()
    const count = (name: string) =>
      countVisible(database, users.find(({ username }) => username === name)!.id, { includeStubs: false })
    expect(await countVisible(database, null, { includeStubs: false })).toEqual({ total: 2 })
    expect([await count('alice'), await count('bob')]).toEqual([{ total: 6 }, { total: 6 }])
  })
})
