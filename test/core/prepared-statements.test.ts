import { randomBytes } from 'node:crypto'
import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { findMeta, putMeta } from '../../packages/core/src/storage/meta.ts'
import { type Param, compileInsert, compileQuery } from '../../packages/core/src/storage/compiled-query.ts'
import { bytesOf } from '../support/answers.ts'
import { describeDatabases } from '../support/harness.ts'
import { recordStatements } from '../support/sent-statements.ts'

const insertAudit = compileInsert('audit')
const selectAudit = compileQuery((db, param: Param<{ action: string }>) =>
  db.selectFrom('audit').selectAll().where('action', '=', param('action')),
)
const toFile = (path: string, bytes: Buffer) => ({
  path,
  content: bytes.toString('base64'),
  encoding: 'base64' as const,
})
const row = { at: 0, actor_id: null, actor: null, action: 'test', subject: 'test', data: '{}' }

describeDatabases('compiled SQL statements', (open, dialect) => {
  const write = async (database: Awaited<ReturnType<typeof openDatabase>>, id: string) =>
    database.writer.write(async (trx) => {
      await insertAudit(trx, { id, ...row })
      return (await selectAudit(trx, { action: 'test' })).length
    })
  const openDatabase = async () => partsOf((await open()).registry).database

  it.skipIf(dialect !== 'PostgreSQL')('are prepared once per connection', async () => {
    const { writer } = await openDatabase()
    const names = await writer.write(async (trx) => {
      for (const id of ['a', 'b', 'c']) await insertAudit(trx, { id, ...row })
      const prepared = sql<{ statement: string }>`select statement from pg_prepared_statements
        where statement like 'insert into "audit"%'`
      return (await prepared.execute(trx)).rows
    })
    expect(names).toHaveLength(1)
  })

  it.skipIf(dialect !== 'PostgreSQL')('run behind a pooler that changes connections between transactions', async () => {
    const database = await openDatabase()
    // The pool uses the same connection each time. The statements are gone, as on another connection of a pooler.
    const forget = sql`deallocate all`
    expect(await write(database, 'a')).toBe(1)
    await database.writer.write((trx) => forget.execute(trx))
    expect(await write(database, 'b')).toBe(2)
  })

  it.skipIf(dialect !== 'PostgreSQL')('are prepared again if a read connection lost them', async () => {
    const { read } = await openDatabase()
    expect(await selectAudit(read, { action: 'test' })).toEqual([])
    await sql`deallocate all`.execute(read)
    expect(await selectAudit(read, { action: 'test' })).toEqual([])
  })

  it('return the columns of the current schema after another process migrated the database', async () => {
    const database = await openDatabase()
    expect(await write(database, 'a')).toBe(1)
    expect(await selectAudit(database.read, { action: 'test' })).toEqual([{ seq: expect.any(Number), id: 'a', ...row }])
    await database.writer.write((trx) => sql`alter table audit add column added integer`.execute(trx))
    const now = { seq: expect.any(Number), id: 'a', ...row, added: null }
    expect(await selectAudit(database.read, { action: 'test' })).toEqual([now])
    expect(await write(database, 'b')).toBe(2)
    expect(await database.writer.write((trx) => putMeta(trx, 'test', 'stored'))).toBeUndefined()
    expect(await findMeta(database.read, 'test')).toBe('stored')
  })
})

const toFiles = (count: number) =>
  Array.from({ length: count }, (_, i) => toFile(`${String(i).padStart(2, '0')}.txt`, Buffer.from(`File ${i}.\n`)))

describeDatabases('a publish of many files', (open) => {
  const publisher = async () => {
    const { registry, makeUser } = await open()
    const { username } = await makeUser()
    const api = localApi(registry, await registry.getCaller(username))
    const publish = (name: string, files: ReturnType<typeof toFiles>) =>
      api.publishSkill({ skillMd: `---\nname: ${name}\ndescription: Has files.\n---\nRead the files.\n`, files })
    return { api, publish }
  }

  it('sends one prepared statement for each table, as for one file', async () => {
    const { publish } = await publisher()
    const sent = recordStatements()
    const listInserts = async (count: number) => {
      sent.length = 0
      await publish(`files-${count}`, toFiles(count))
      return sent.filter(({ text }) => text.startsWith('insert into'))
    }
    await listInserts(1)
    const few = await listInserts(2)
    const many = await listInserts(15)
    const tables = (inserts: typeof sent) => inserts.map(({ text }) => /insert into "?(\w+)/.exec(text)![1]).toSorted()
    expect(tables(many)).toEqual(tables(few))
    for (const table of ['blobs', 'version_files']) {
      const [insert, ...more] = many.filter(({ text }) => text.startsWith(`insert into "${table}"`))
      expect(insert).toMatchObject({ isPrepared: true })
      expect(more).toEqual([])
    }
  })

  it('stores all files in few statements, also the same content twice and megabytes', async () => {
    const { api, publish } = await publisher()
    const sent = recordStatements()
    const large = ['a', 'b', 'c'].map((letter) => toFile(`${letter}.bin`, randomBytes(600_000)))
    const files = [...toFiles(40), toFile('same.txt', Buffer.from('File 0.\n')), ...large]
    await publish('many', files)
    const inserts = sent.filter(({ text }) => text.startsWith('insert into "blobs"'))
    expect(inserts.length).toBeLessThan(8)
    for (const { path, content } of files) {
      const bytes = await bytesOf(await api.getFile({ name: 'many', path }))
      expect(bytes.toString('base64') === content, path).toBe(true)
    }
  })
})
