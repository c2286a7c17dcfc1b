import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { RegistryApi } from '@skillstead/protocol'
import { auditStart, partsOf, readAuditAfter, resumeAudit } from '@skillstead/core/internal'
import { bytesOf, codeOf, fieldsOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

interface Entry {
  readonly id: string
  readonly actor: string | null
  readonly action: string
  readonly subject: string
}

describeApi('the audit log', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.createApiKey({ name: 'one' })
    test.clock.advance(60_000)
    await alice.api.createApiKey({ name: 'two' })
    await alice.api.createSession({})
    // The first uses of the keys of alice and of the administrator are stored a moment later.
    await vi.waitUntil(async () => (await list({ action: 'key.use' })).length === 2)
  })

  const list = async (input: Parameters<RegistryApi['listAudit']>[0]) =>
    (await test.admin.api.listAudit({ limit: 100, ...input })).entries
  const exportLines = async (input: Parameters<RegistryApi['exportAudit']>[0] = {}): Promise<Entry[]> => {
    const text = new TextDecoder().decode(await bytesOf(await test.admin.api.exportAudit(input)))
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Entry)
  }

  it('records which user signed in, without the token', async () => {
    const [entry] = await list({ action: 'session.create' })
    expect(entry).toMatchObject({ actor: 'alice', subject: 'alice', data: { keyId: expect.any(String) } })
    expect(JSON.stringify(entry)).not.toMatch(/ss[sk]_/)
  })

  it.each([
    ['an action', { action: 'key.create' }, 2],
    ['the first part of an action', { action: 'key.c' }, 2],
    ['no pattern', { action: 'key%' }, 0],
    ['an actor', { actor: 'alice' }, 4],
    ['an actor and an action', { actor: 'alice', action: 'session' }, 1],
    ['a subject', { subject: 'alice', action: 'session.create' }, 1],
    ['another subject', { subject: 'al' }, 0],
  ])('is filtered by %s, in the list and in the export', async (_, filters, count) => {
    expect(await list(filters)).toHaveLength(count)
    expect(await exportLines(filters)).toHaveLength(count)
  })

  it('is filtered by time: `since` is inclusive, `until` is exclusive', async () => {
    const [second, first] = await list({ action: 'key.create' })
    const names = async (filters: object) => (await list({ action: 'key.create', ...filters })).map(({ id }) => id)
    expect(await names({ since: second!.at })).toEqual([second!.id])
    expect(await names({ until: second!.at })).toEqual([first!.id])
    expect(await names({ since: first!.at, until: second!.at })).toEqual([first!.id])
    expect(await names({ since: '2000-01-01' })).toHaveLength(2)
    expect(await names({ until: '2000-01-01' })).toHaveLength(0)
    for (const since of ['yesterday', '', '2026-13-01', '1'.repeat(50)])
      expect(await fieldsOf(test.admin.api.listAudit({ since })), since).toEqual(['since'])
  })

  it('is exported oldest first, complete across pages, only for administrators', async () => {
    const { database } = partsOf(test.registry)
    await database.writer.write(async (trx) => {
      const rows = Array.from({ length: 1100 }, (_, i) => ({
        id: `made-${i}`,
        at: test.clock.now(),
        actor_id: null,
        actor: null,
        action: 'test.many',
        subject: `${i}`,
        data: '{}',
      }))
      for (let i = 0; i < rows.length; i += 100)
        await trx
          .insertInto('audit')
          .values(rows.slice(i, i + 100))
          .execute()
    })
    const lines = await exportLines({ action: 'test.many' })
    expect(lines.map(({ subject }) => Number(subject))).toEqual(Array.from({ length: 1100 }, (_, i) => i))
    expect(await codeOf(alice.api.exportAudit({}))).toBe('forbidden')
    expect(await codeOf(test.api().exportAudit({}))).toBe('unauthorized')
    const { id, key } = await test.admin.api.createApiKey({ name: 'reader', scopes: ['read'] })
    expect(await codeOf(test.apiWithKey(key).exportAudit({}))).toBe('forbidden')
    await expect.poll(async () => (await list({ action: 'key.use', subject: id })).length).toBe(1)
  })

  describe('a reader that follows the log', () => {
    it('reads every entry once, in the order of commits', async () => {
      const context = partsOf(test.registry)
      let position = await resumeAudit(context, auditStart)
      const seen: string[] = []
      for (;;) {
        const found = await readAuditAfter(context, position, 7)
        seen.push(...found.map(({ entry }) => entry.id))
        if (found.length === 0) break
        position = found.at(-1)!.position
      }
      expect(seen).toEqual((await exportLines()).map(({ id }) => id))
      expect(new Set(seen).size).toBe(seen.length)
      expect(await resumeAudit(context, 'end')).toEqual(position)
    })

    it('finds its position by the id of its last entry if the number of this entry has changed', async () => {
      const context = partsOf(test.registry)
      const [first, second] = await readAuditAfter(context, auditStart, 2)
      expect(await resumeAudit(context, first!.position)).toEqual(first!.position)
      expect(await resumeAudit(context, { ...first!.position, seq: 999_999 })).toEqual(first!.position)
      expect(await resumeAudit(context, { seq: second!.position.seq, id: first!.position.id })).toEqual(first!.position)
      expect(await resumeAudit(context, { seq: 999_999, id: '0' })).toEqual(auditStart)
    })
  })

  it('records the first use of a key, and no later use', async () => {
    const { id, key } = await alice.api.createApiKey({ name: 'three' })
    const uses = async () => (await list({ action: 'key.use', subject: id })).map(({ actor, data }) => [actor, data])
    expect(await uses()).toEqual([])
    await test.apiWithKey(key).getMe()
    await expect.poll(uses).toEqual([['alice', { name: 'three' }]])
    const stored = async () => (await alice.api.listApiKeys({})).apiKeys.find((one) => one.id === id)!.lastUsedAt
    const before = await stored()
    test.clock.advance(600_000)
    await test.apiWithKey(key).getMe()
    await expect.poll(stored).not.toBe(before)
    expect(await uses()).toHaveLength(1)
    await alice.api.deleteApiKey({ id })
    expect(await list({ action: 'key.delete', subject: id })).toMatchObject([
      { data: { username: 'alice', name: 'three' } },
    ])
  })
})
