import { localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { compileInsert } from '../../packages/core/src/storage/compiled-query.ts'
import { describeDatabases } from '../support/harness.ts'

describeDatabases('publishing', (open, dialect) => {
  describe.skipIf(dialect !== 'PostgreSQL')('waits for at most five round trips in its transaction', () => {
    it.each([
      ['a new skill', '1.0.0', 5],
      ['another version', '1.1.0', 5],
    ])('for %s', async (_, version, most) => {
      const { registry, makeUser } = await open()
      const { username } = await makeUser()
      const api = localApi(registry, await registry.getCaller(username))
      const publish = (number: string) =>
        api.publishSkill({
          version: number,
          skillMd: `---\nname: trips\ndescription: Counts.\n---\nThis is ${number} of the text.\n`,
        })
      if (version !== '1.0.0') await publish('1.0.0')
      const trips = countTrips()
      await publish(version)
      expect(trips.stop().length).toBeLessThanOrEqual(most)
    })
  })
})

const insertAudit = compileInsert('audit')

describeDatabases('a statement whose result is not read', (open) => {
  it('rejects only its own write when it fails, with the error of the statement', async () => {
    const { database } = partsOf((await open()).registry)
    const row = { at: 0, actor_id: null, actor: null, action: 'test', subject: 'test', data: '{}' }
    const write = (...ids: readonly string[]) =>
      database.writer.write(async (trx) => {
        for (const id of ids) await insertAudit(trx, { id, ...row })
        // Reads after the failure, which PostgreSQL refuses with another error.
        return trx.selectFrom('audit').select('id').where('action', '=', 'test').execute()
      })
    const [one, twice, other] = await Promise.allSettled([write('a'), write('b', 'c', 'b'), write('d')])
    expect(one).toMatchObject({ value: [{ id: 'a' }] })
    expect(String((twice as PromiseRejectedResult).reason)).toMatch(/unique/i)
    expect(other).toMatchObject({ value: [{ id: 'a' }, { id: 'd' }] })
    // As the last statement of a write.
    const last = database.writer.write((trx) => insertAudit(trx, { id: 'a', ...row }))
    await expect(last).rejects.toThrow(/unique/i)
    expect(await write('e')).toHaveLength(3)
  })
})

/** Lists the statements of transactions that are sent while none is unanswered; all others share their round trips. */
function countTrips() {
  const waitedFor: string[] = []
  const unanswered = new WeakMap<object, number>()
  const inTransaction = new WeakSet<object>()
  const send = pg.Client.prototype.query as (this: object, sql: string, values: unknown) => Promise<unknown>
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function query(
    this: object,
    sql: string,
    values: unknown,
  ) {
    const waiting = unanswered.get(this) ?? 0
    if (sql === 'begin') inTransaction.add(this)
    if (waiting === 0 && inTransaction.has(this)) waitedFor.push(sql)
    if (sql === 'commit') inTransaction.delete(this)
    unanswered.set(this, waiting + 1)
    const sent = send.call(this, sql, values)
    const end = () => void unanswered.set(this, unanswered.get(this)! - 1)
    sent.then(end, end)
    return sent
  } as never)
  return {
    stop() {
      spy.mockRestore()
      return waitedFor
    },
  }
}
