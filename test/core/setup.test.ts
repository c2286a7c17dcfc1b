import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { guest, localApi, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import { createNode } from '@skillstead/server'
import { codeOf, refusalOf } from '../support/answers.ts'
import { describeApi, type TestRegistry } from '../support/harness.ts'
import { openRegistry } from '../support/open-registry.ts'

describeApi('the first user of a node', (open) => {
  let test: TestRegistry
  let code: string
  beforeAll(async () => {
    test = await open({ empty: true })
    code = partsOf(test.registry).setup.code
  })

  it('is reported as needed while no user can sign in', async () => {
    expect(await test.api().getSetup()).toEqual({ needed: true })
    await partsOf(test.registry).database.writer.write(async (trx) => {
      const row = { id: '00000000-0000-7000-8000-00000000000a', username: 'imported', display_name: 'imported' }
      const rest = { plan: 'free', role: 'user', disabled: 0, claimed: 0, created_at: 0 } as const
      await trx
        .insertInto('users')
        .values({ ...row, ...rest })
        .execute()
    })
    expect(await test.api().getSetup(), 'an imported author cannot sign in').toEqual({ needed: true })
  })

  it('is not created with a wrong code', async () => {
    for (const wrong of ['0000-0000', `${code}0`, code.slice(0, -1), '\u{1F511}']) {
      expect(await codeOf(test.api().setUp({ code: wrong, username: 'mallory' })), wrong).toBe('forbidden')
    }
    expect(await codeOf(test.api().setUp({ code: '', username: 'mallory' }))).toBe('invalid_request')
    expect(await codeOf(test.api().setUp({ code, username: 'Not A Name' }))).toBe('invalid_request')
    expect(await codeOf(test.api().setUp({ code, username: 'admin' }))).toBe('name_taken')
    expect(await test.api().getSetup()).toEqual({ needed: true })
  })

  it('is an administrator with a key, created once by concurrent requests', async () => {
    const typed = code.toLowerCase().replace('-', ' ')
    const asked = await Promise.allSettled(
      ['ada', 'bob'].map((username) => test.api().setUp({ code: typed, username })),
    )
    const made = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(made).toHaveLength(1)
    expect(made[0]!.user).toMatchObject({ role: 'admin', plan: 'enterprise', claimed: true })
    expect(await test.apiWithKey(made[0]!.key).getMe()).toMatchObject({ username: made[0]!.user.username })
    expect(await test.api().getSetup()).toEqual({ needed: false })
    const refusal = await refusalOf(test.api().setUp({ code, username: 'carol' }))
    expect(refusal.code).toBe('conflict')
    expect(refusal.message).not.toContain(code)
    const { users } = await test.apiWithKey(made[0]!.key).listUsers({ claimed: true })
    expect(users).toHaveLength(1)
  })
})

const guess = (body: object, node: ReturnType<typeof createNode>) =>
  node.fetch(
    new Request('http://localhost/api/v1/setup', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  )

describe('the code of the first user', () => {
  let registry: Registry
  beforeAll(async () => void (registry = await openRegistry({ path: ':memory:' })))
  afterAll(() => registry.close())

  it('cannot be guessed: after many attempts even the right code is refused for a while', async () => {
    const node = createNode(registry, { rates: 'off' })
    const statuses = new Set<number>()
    for (let i = 0; i < 10; i++) statuses.add((await guess({ code: `wrong-${i}`, username: 'eve' }, node)).status)
    expect([...statuses]).toEqual([403])
    const refused = await guess({ code: partsOf(registry).setup.code, username: 'eve' }, node)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    node.close()
  })

  it('cannot be guessed from many addresses, and the error names the command that creates a user', async () => {
    const other = await openRegistry({ path: ':memory:' })
    const from = (i: number) => localApi(other, guest, { address: `10.0.${Math.floor(i / 256)}.${i % 256}` })
    for (let i = 0; i < 500; i++) await codeOf(from(i).setUp({ code: 'wrong', username: 'eve' }))
    const refusal = await refusalOf(from(500).setUp({ code: partsOf(other).setup.code, username: 'ada' }))
    expect([refusal.code, refusal.message]).toEqual([
      'rate_limited',
      expect.stringContaining('skillstead users create'),
    ])
    expect(await localApi(other, guest).getSetup()).toEqual({ needed: true })
    await other.close()
  })

  it('is accepted on a node where everything else needs a key', async () => {
    const other = await openRegistry({ path: ':memory:' })
    const node = createNode(other, { requireKey: true, rates: 'off' })
    const needed = await node.fetch(new Request('http://localhost/api/v1/setup'))
    expect([needed.status, await needed.json()]).toEqual([200, { needed: true }])
    expect(needed.headers.get('cache-control')).toBe('private, no-store')
    expect((await node.fetch(new Request('http://localhost/api/v1/skills'))).status).toBe(401)
    expect((await guess({ code: partsOf(other).setup.code, username: 'ada' }, node)).status).toBe(201)
    node.close()
    await other.close()
  })

  it('differs per process, and has forty random bits', async () => {
    const other = await openRegistry({ path: ':memory:' })
    expect(partsOf(registry).setup.code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/)
    expect(partsOf(other).setup.code).not.toBe(partsOf(registry).setup.code)
    await other.close()
  })
})
