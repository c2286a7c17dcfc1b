import { partsOf } from '@skillstead/core/internal'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { findMeta, putMeta } from '../../packages/core/src/storage/meta.ts'
import { type Param, compileInsert, compileQuery } from '../../packages/core/src/storage/compiled-query.ts'
import { describeDatabases } from '../support/harness.ts'

const insertAudit = compileInsert('audit')
const selectAudit = compileQuery((db, param: Param<{ action: string }>) =>
  db.selectFrom('audit').selectAll().where('action', '=', param('action')),
)
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
