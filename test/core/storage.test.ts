import { sql } from 'kysely'
import SqliteDatabase from 'better-sqlite3'
import { statSync } from 'node:fs'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { openRegistry as openCoreRegistry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { createMirror } from '@skillstead/mirror'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openSqlite } from '../../packages/core/src/storage/sqlite/sqlite.ts'
import { doLast, undo } from '../../packages/core/src/storage/writer.ts'
import { codeOf, refusalOf, skillMd } from '../support/answers.ts'
import { stopElapsedTime } from '../support/elapsed-time.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { makeEmptyPlace, makePlace } from '../support/places.ts'
import { openRegistry } from '../support/open-registry.ts'

const names = async ({ registry }: TestRegistry) =>
  (await partsOf(registry).database.read.selectFrom('meta').select('key').execute()).map(({ key }) => key)
const put = ({ registry }: TestRegistry, key: string, { fails = false, bulk = false } = {}) =>
  partsOf(registry).database.writer.write(
    async (trx) => {
      await trx.insertInto('meta').values({ key, value: '' }).execute()
      if (fails) throw new Error(`${key} fails.`)
      return key
    },
    { bulk },
  )

describeDatabases('storage', (open, dialect) => {
  it('of a newer release is refused with a message', async () => {
    const test = await open()
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await sql`insert into migrations (name, position) values ('9999-from-the-future', 9999)`.execute(trx)
    })
    await expect(openRegistry(test.location)).rejects.toThrow(
      'The database was made by a newer Skillstead (it has 9999-from-the-future). Update this program to open it.',
    )
  })

  it('with tables of a mirror is refused without the mirror extension; the message names the package to install', async () => {
    const test = await open()
    await expect(openCoreRegistry(test.location)).rejects.toThrow(
      'The database has tables of @skillstead/mirror. Pass the extension of that package in `extensions`.',
    )
  })

  it('without a mirror can become a mirror', async () => {
    const place = await makeEmptyPlace(dialect)
    onTestFinished(place.remove)
    await (await openCoreRegistry({ ...place.location, works: false })).close()
    const plain = await openCoreRegistry({ ...place.location, works: false })
    expect(() => createMirror(plain)).toThrow('Open the registry with `extensions: [mirrorExtension]`')
    await plain.close()
    const registry = await openRegistry({ ...place.location, works: false })
    const mirror = createMirror(registry)
    expect(await mirror.list()).toEqual([])
    await mirror.close()
    await registry.close()
  })

  it('refuses an object that is no extension', async () => {
    const place = await makeEmptyPlace(dialect)
    onTestFinished(place.remove)
    const opening = openCoreRegistry({ ...place.location, extensions: [{ name: 'tea' }] })
    await expect(opening).rejects.toThrow(
      new TypeError('tea is not an extension. Pass what its package exports as one.'),
    )
  })

  it('can be opened again with all data, under the same name', async () => {
    const test = await open({ works: false })
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('lasting', { description: 'Lasting tapir.' }) })
    const again = await open({ at: test.location })
    expect(partsOf(again.registry).origin).toBe(partsOf(test.registry).origin)
    expect((await again.api().getSkill({ name: 'alice/lasting' })).latestVersion).toBe('1.0.0')
    expect((await again.api().searchSkills({ q: 'tapir' })).total).toBe(1)
  })

  it('opened twice at the same moment is created once', async () => {
    const place = await makePlace(dialect)
    const both = await Promise.all([openRegistry(place.location), openRegistry(place.location)])
    expect(new Set(both.map((one) => partsOf(one).origin)).size).toBe(1)
    for (const registry of both) await registry.close()
    await place.remove()
  })

  it('commits pending writes together, and a failing write affects no other write', async () => {
    const test = await open()
    const outcomes = await Promise.allSettled([
      put(test, 'a'),
      put(test, 'b', { fails: true }),
      put(test, 'c'),
      put(test, 'a'),
      put(test, 'd'),
    ])
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await names(test)).toEqual(expect.arrayContaining(['a', 'c', 'd']))
    expect(await names(test)).not.toContain('b')
  })

  it('rolls back an undone write without affecting other writes, and still returns its result', async () => {
    const test = await open({ works: false })
    const { writer } = partsOf(test.registry).database
    const write = (key: string, isUndone = false) =>
      writer.write(async (trx) => {
        await trx.insertInto('meta').values({ key, value: '' }).execute()
        await doLast(trx, key, () =>
          trx
            .insertInto('meta')
            .values({ key: `last ${key}`, value: '' })
            .execute(),
        )
        if (isUndone) undo(trx)
        return key
      })
    expect(await write('alone', true)).toBe('alone')
    expect(await Promise.all([write('a'), write('b', true), write('c')])).toEqual(['a', 'b', 'c'])
    const stored = await names(test)
    expect(stored).toEqual(expect.arrayContaining(['a', 'last a', 'c', 'last c']))
    for (const key of ['alone', 'b']) for (const name of [key, `last ${key}`]) expect(stored).not.toContain(name)
  })

  it('runs deferred work at the end of the transaction, in the order of the writes, but not for failed writes', async () => {
    const test = await open({ works: false })
    const { writer } = partsOf(test.registry).database
    stopElapsedTime()
    const done: string[] = []
    const leave = (key: string, fails = false) =>
      writer.write(async (trx) => {
        await doLast(trx, key, async () => {
          await trx.insertInto('meta').values({ key, value: '' }).execute()
          done.push(`last ${key}`)
        })
        done.push(key)
        if (fails) throw new Error(`${key} fails.`)
      })
    await Promise.allSettled([leave('a'), leave('b', true), leave('c')])
    await leave('alone')
    expect(done).toEqual(['a', 'b', 'c', 'last a', 'last c', 'alone', 'last alone'])
    expect(await names(test)).toEqual(expect.arrayContaining(['a', 'c', 'alone']))
    expect(await names(test)).not.toContain('b')
    const failed = await Promise.allSettled([put(test, 'd'), leave('a')])
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await names(test)).not.toContain('d')
  })

  it('runs only the last deferred work of each key, without that of failed writes', async () => {
    const test = await open({ works: false })
    const { writer } = partsOf(test.registry).database
    stopElapsedTime()
    const done: string[] = []
    const leave = (key: string, name: string, fails = false) =>
      writer.write(async (trx) => {
        await doLast(trx, key, async () => void done.push(name))
        if (fails) throw new Error(`${name} fails.`)
      })
    await Promise.allSettled([leave('a', 'a1'), leave('b', 'b1'), leave('a', 'a2'), leave('a', 'a3', true)])
    expect(done.toSorted()).toEqual(['a2', 'b1'])
    await leave('a', 'a4')
    expect(done).toHaveLength(3)
  })

  it('commits larger batches of bulk writes, unless other writes wait', async () => {
    const test = await open({ works: false })
    let commits = 0
    partsOf(test.registry).database.writer.onCommit(() => void commits++)
    stopElapsedTime()
    const putMany = (name: string) =>
      Array.from({ length: 100 }, (_, i) => put(test, `${name}-${i}`, { bulk: true, fails: i === 60 }))
    const alone = await Promise.allSettled(putMany('alone'))
    const commitsAlone = commits
    const together = await Promise.allSettled([...putMany('before'), put(test, 'urgent')])
    const commitsTogether = commits - commitsAlone
    expect(commitsAlone).toBe(1)
    // Of 101 writes, at most 48 share a commit.
    expect(commitsTogether).toBe(3)
    expect(alone.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(together.at(-1)).toEqual({ status: 'fulfilled', value: 'urgent' })
    expect(await names(test)).toEqual(expect.arrayContaining(['alone-0', 'alone-99', 'before-99', 'urgent']))
    expect(await names(test)).not.toContain('alone-60')
  })

  it('resolves a write only after its commit, when everyone can read it', async () => {
    const test = await open()
    const other = await open({ at: test.location })
    for (let i = 0; i < 20; i++) {
      await put(test, `committed-${i}`)
      expect(await names(other)).toContain(`committed-${i}`)
    }
  })

  it('notifies of a write even while changes are being read', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    const { changes, search } = partsOf(test.registry)
    let busy = true
    const nag = async () => {
      while (busy) {
        await changes.catchUp()
        // A database in the same process responds within one turn of the event loop, so other work would get no turn.
        await setImmediate()
      }
    }
    const nagging = Promise.all([nag(), nag(), nag()])
    for (let i = 0; i < 40; i++) {
      await alice.api.publishSkill({ skillMd: skillMd(`nagged-${i}`) })
      expect(search.size).toBe(i + 1)
    }
    busy = false
    await nagging
  })

  it('sees the changes of another process within one polling interval', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    const other = await open({ at: test.location })
    await alice.api.publishSkill({ skillMd: skillMd('followed', { description: 'Before wombat.' }) })
    await expect.poll(async () => (await other.api().searchSkills({ q: 'wombat' })).total).toBe(1)
    expect((await other.api().getSkill({ name: 'followed' })).description).toBe('Before wombat.')
    await alice.api.publishSkill({ name: 'followed', description: 'After quokka.' })
    await expect.poll(async () => (await other.api().getSkill({ name: 'followed' })).description).toBe('After quokka.')
    await alice.api.publishSkill({ name: 'followed', visibility: 'private' })
    expect(
      await codeOf(other.api().getSkillMd({ name: 'followed' })),
      'what is private is private everywhere at once',
    ).toBe('not_found')
    await expect.poll(async () => (await other.api().searchSkills({ q: 'quokka' })).total).toBe(0)
    await expect
      .poll(async () => codeOf(other.api().getSkill({ name: 'followed' })).catch(() => 'seen'))
      .toBe('not_found')
  })

  it('numbers the writes of two processes without gaps or duplicates', async () => {
    const test = await open()
    const users = [await test.makeUser('alice'), await test.makeUser('bob')]
    const other = await open({ at: test.location })
    const apis = [test.apiWithKey(users[0]!.key), other.apiWithKey(users[1]!.key)]
    const work = apis.flatMap((api) =>
      Array.from({ length: 12 }, (_, i) => api.publishSkill({ skillMd: skillMd(`both-${i}`) })),
    )
    await Promise.all(work)
    const { entries, head } = await other.api().getFeed({ limit: 1000 })
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: head }, (_, i) => i + 1))
    expect(entries.filter(({ type }) => type === 'version')).toHaveLength(24)
    const holders = entries.filter(({ data }) => data.holder).map(({ subject }) => subject.replace(/^\w+\/|@.*/g, ''))
    expect(new Set(holders).size, 'each short name has one holder').toBe(holders.length)
  })

  it('creates one version for concurrent publishes by two processes', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    const other = await open({ at: test.location })
    const apis = [alice.api, other.apiWithKey(alice.key)]
    const outcomes = await Promise.allSettled(
      apis.map((api, i) => api.publishSkill({ skillMd: skillMd('raced', { body: `${i}` }), version: '1.0.0' })),
    )
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const refused = outcomes.find((outcome) => outcome.status === 'rejected')!
    expect(refused.reason.code).toBe('version_exists')
  })

  it.runIf(dialect === 'PostgreSQL')('reconnects for the next call after its connections were dropped', async () => {
    const test = await open({ works: false, onError: () => {} })
    await partsOf(test.registry).database.read.selectFrom('meta').select('key').execute()
    await sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`.execute(
      partsOf(test.registry).database.read,
    )
    const outcome = await test
      .api()
      .getSkill({ name: 'unknown-user/nothing' })
      .then(
        () => 'found',
        (error: { code: string }) => error.code,
      )
    expect(['overloaded', 'not_found']).toContain(outcome)
    expect(await codeOf(test.api().getSkill({ name: 'unknown-user/nothing' })), 'and is there again').toBe('not_found')
  })
})

describe('storage in an SQLite file', () => {
  it('locked by another process returns overloaded for writes, serves reads, and recovers', async () => {
    const place = await makePlace('SQLite')
    const registry = await openRegistry(place.location)
    const { localApi, systemCaller } = await import('@skillstead/core')
    const api = localApi(registry, systemCaller)
    const other = new SqliteDatabase(place.location.path!)
    other.exec('begin immediate')
    const refusal = await refusalOf(api.createUser({ username: 'waiting' }))
    expect({ code: refusal.code, retry: refusal.retryAfterSeconds }).toEqual({ code: 'overloaded', retry: 2 })
    expect(refusal.message).not.toMatch(/sqlite|busy|lock/i)
    expect((await api.searchSkills()).total).toBe(0)
    const patient = api.createUser({ username: 'patient' })
    await setTimeout(200)
    other.exec('rollback')
    other.close()
    expect((await patient).username).toBe('patient')
    await registry.close()
    await place.remove()
  })

  it('misses no change of another process, even if the change is written while a read ends', async () => {
    const place = await makePlace('SQLite')
    // Nothing but what is asked for looks: to the timer numbers beyond the head are a sign that the database went back.
    const registry = await openRegistry({ ...place.location, works: false, pollMs: 3_600_000 })
    const other = new SqliteDatabase(place.location.path!)
    const insert = other.prepare(`insert into changes (seq, kind, subject, at) values (?, 'pack', 'x', 0)`)
    for (let turns = 0; turns < 80; turns++) {
      const seq = partsOf(registry).changes.position + 1
      const reading = partsOf(registry).changes.catchUp()
      // One turn of the queue of promises after another.
      for (let turn = 0; turn < turns; turn++) await Promise.resolve()
      insert.run(seq)
      await partsOf(registry).changes.catchUp()
      expect(partsOf(registry).changes.position, `after ${turns} turns`).toBe(seq)
      await reading
    }
    other.close()
    await registry.close()
    await place.remove()
  })

  it('is durable on power loss, enforces foreign keys and keeps types', async () => {
    const place = await makePlace('SQLite')
    const registry = await openRegistry(place.location)
    const { main, close } = openSqlite(place.location.path!)
    const pragma = async (name: string) =>
      Object.values((await sql`pragma ${sql.raw(name)}`.execute(main)).rows[0] as object)[0] as unknown
    expect([await pragma('journal_mode'), await pragma('synchronous'), await pragma('foreign_keys')]).toEqual([
      'wal',
      2,
      1,
    ])
    const { rows } = await sql<{
      sql: string
    }>`select sql from sqlite_schema where type = 'table' and name not like 'skill_text%' and name <> 'migrations' and name not like 'sqlite%'`.execute(
      main,
    )
    expect(rows.length).toBeGreaterThan(15)
    for (const row of rows) expect(row.sql).toMatch(/strict(, without rowid)?$/i)
    await close()
    await registry.close()
    await place.remove()
  })

  it('prepares a statement once for any number of runs', async () => {
    const place = await makePlace('SQLite')
    const registry = await openRegistry(place.location)
    const prepare = SqliteDatabase.prototype.prepare
    const texts: string[] = []
    SqliteDatabase.prototype.prepare = function counted(this: SqliteDatabase.Database, text: string) {
      texts.push(text)
      return prepare.call(this, text)
    } as typeof prepare
    try {
      for (let i = 0; i < 5; i++)
        await partsOf(registry).database.read.selectFrom('meta').select('key').where('value', '=', `${i}`).execute()
    } finally {
      SqliteDatabase.prototype.prepare = prepare
    }
    expect(texts.filter((text) => text.includes('"meta"'))).toHaveLength(1)
    await registry.close()
    await place.remove()
  })

  it('is readable only by its owner, like its journal', async () => {
    const place = await makeEmptyPlace('SQLite')
    const registry = await openRegistry(place.location)
    const modes = ['', '-wal', '-shm'].map((end) => statSync(place.location.path! + end).mode & 0o777)
    await registry.close()
    await place.remove()
    expect(modes).toEqual([0o600, 0o600, 0o600])
  })

  it('requires either a path or a database URL', async () => {
    await expect(openRegistry({})).rejects.toThrow(TypeError)
    await expect(openRegistry({ path: ':memory:', databaseUrl: 'postgres://x' })).rejects.toThrow(TypeError)
  })
})
