import { guest, localApi } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  recordActions,
  toTrustScore,
  type TrustCounters,
  trustTable,
} from '../../packages/core/src/community/agent-actions.ts'
import { findAgent } from '../../packages/core/src/accounts/find-agent.ts'
import type { AgentRow } from '../../packages/core/src/storage/tables.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, fieldsOf, refusalOf, skillMd } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const forged = `sat_${'A'.repeat(43)}`

const toInput = (agentKey: string, displayName = agentKey) => ({
  agentKey,
  displayName,
  platformId: agentKey.slice(0, agentKey.indexOf(':')),
})

/** Descending numbers as strings. */
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => `${from - i}`)

describeApi('agents', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  /** Registers an agent and returns its token. */
  const register = async (agentKey: string, displayName?: string) =>
    (await test.api().registerAgent(toInput(agentKey, displayName))).agentToken!
  const readRow = (agentKey: string) =>
    partsOf(test.registry)
      .database.read.selectFrom('agents')
      .selectAll()
      .where('agent_key', '=', agentKey)
      .executeTakeFirstOrThrow()
  const change = (agentKey: string, columns: Partial<AgentRow>) =>
    partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('agents').set(columns).where('agent_key', '=', agentKey).execute()
    })

  /** How often the agent's activity lists a published version. */
  const published = async (agentKey: string) => {
    const { activity, publishedCount } = await alice.api.getAgent({ agentKey })
    expect(activity.filter(({ type }) => type === 'published')).toHaveLength(publishedCount)
    return publishedCount
  }

  describe('the registration of an agent', () => {
    it('returns 201 with a token the first time, and 200 without a token afterwards', async () => {
      const input = toInput('claude-code:first', 'First')
      const made = await test.api().registerAgent(input)
      expect(made).toEqual({
        ...input,
        trustScore: 0,
        reviewCount: 0,
        publishedCount: 0,
        installCount: 0,
        registeredAt: '2026-01-02T12:00:00.000Z',
        lastSeenAt: '2026-01-02T12:00:00.000Z',
        agentToken: expect.stringMatching(/^sat_[\w-]{43}$/),
      })
      const { agentToken, ...agent } = made
      expect(await test.statusOf(undefined, 'registerAgent', input)).toBe(200)
      expect(await test.api().registerAgent(input)).toEqual(agent)
      expect(await test.statusOf(undefined, 'registerAgent', toInput('claude-code:other'))).toBe(201)
      const shown = [
        await test.apiWith({ agentToken }).registerAgent(input),
        await test.apiWith({ agentToken }).getAgent({ agentKey: input.agentKey }),
        await test.apiWith({ agentToken }).listAgents(),
        await readRow(input.agentKey),
      ]
      expect(JSON.stringify(shown)).not.toContain(agentToken)
      expect(JSON.stringify(shown.slice(0, 3))).not.toContain('sat_')
    })

    it('requires an agent key that begins with the platform id', async () => {
      const input = { agentKey: 'codex:one', displayName: 'One', platformId: 'claude-code' }
      const refusal = await refusalOf(test.api().registerAgent(input))
      expect(refusal.code).toBe('invalid_request')
      expect(refusal.errors.map(({ path }) => path)).toEqual(['platformId'])
      expect(refusal.message).toContain("'codex'")
      expect(await codeOf(test.api().getAgent({ agentKey: 'codex:one' }))).toBe('not_found')
    })

    it.each([
      'no-colon',
      ':instance',
      'platform:',
      'platform:o ne',
      'platform:one:two',
      'platform:one/two',
      'platform:one\n',
      'plätform:one',
      `${'p'.repeat(129)}:one`,
      `platform:${'i'.repeat(129)}`,
    ])('is rejected under the invalid key %j', async (agentKey) => {
      const input = { agentKey, displayName: 'x', platformId: 'platform' }
      expect(await fieldsOf(test.api().registerAgent(input))).toContain('agentKey')
    })

    it.each([
      ['VSCode', 'vscode'],
      ['Claude Code', 'claude-code'],
    ])('normalises the platform’s own spelling of its name: %s', async (platformId, normalised) => {
      const agentKey = `${normalised}:Own-1`
      const input = { agentKey: `${platformId}:Own-1`, platformId, displayName: 'Own' }
      const made = await test.api().registerAgent(input)
      expect(made).toMatchObject({ agentKey, platformId: normalised })
      expect((await test.api().registerAgent({ ...input, platformId: normalised })).agentKey).toBe(agentKey)
      for (const key of [agentKey, input.agentKey])
        expect((await test.api().getAgent({ agentKey: key })).platformId).toBe(normalised)
      for (const platform of [platformId, normalised]) {
        const { agents: found } = await test.api().listAgents({ platform })
        expect(found.map((agent) => agent.agentKey)).toContain(agentKey)
        expect(new Set(found.map((agent) => agent.platformId))).toEqual(new Set([normalised]))
      }
      expect((await test.admin.api.resetAgentToken({ agentKey: input.agentKey })).agentKey).toBe(agentKey)
      const beat = { installedSkills: [], agentKey: input.agentKey, platform: platformId }
      expect((await test.api().heartbeat(beat)).unknown).toEqual([])
      expect(await codeOf(test.api().getAgent({ agentKey: `${platformId}:own-1` }))).toBe('not_found')
    })

    it('accepts an agent key with every allowed character', async () => {
      const agentKey = `${'p.l_a-t0'.padEnd(128, 'z')}:${'I.n_S-t9'.padEnd(128, 'Z')}`
      expect(await test.statusOf(undefined, 'registerAgent', toInput(agentKey, 'x'.repeat(200)))).toBe(201)
      expect(await test.api().getAgent({ agentKey })).toMatchObject({ agentKey })
      expect(await fieldsOf(test.api().registerAgent(toInput('a:b', '')))).toEqual(['displayName'])
      expect(await fieldsOf(test.api().registerAgent(toInput('a:b', 'x'.repeat(201))))).toEqual(['displayName'])
    })

    it('creates only one agent for concurrent requests with the same agent key', async () => {
      const answers = await Promise.all(
        ['One', 'One', 'One'].map((name) => test.api().registerAgent(toInput('claude-code:torn', name))),
      )
      expect(answers.filter(({ agentToken }) => agentToken !== undefined)).toHaveLength(1)
      const { agentToken } = answers.find((answer) => answer.agentToken !== undefined)!
      const renamed = await test.apiWith({ agentToken }).registerAgent(toInput('claude-code:torn', 'Mine'))
      expect(renamed.displayName).toBe('Mine')
    })

    it('is limited per hour and address, except for agents that are already registered', async () => {
      const at = (address: string) => localApi(test.registry, guest, { address })
      for (let i = 0; i < 200; i++) await at('203.0.113.1').registerAgent(toInput(`flood:${i}`))
      expect(await codeOf(at('203.0.113.1').registerAgent(toInput('flood:200')))).toBe('rate_limited')
      expect(await codeOf(test.api().getAgent({ agentKey: 'flood:200' }))).toBe('not_found')
      expect(await at('203.0.113.1').registerAgent(toInput('flood:0'))).toMatchObject({ agentKey: 'flood:0' })
      expect(await at('203.0.113.2').registerAgent(toInput('flood:200'))).toHaveProperty('agentToken')
    })

    it.runIf(transport === 'HTTP')(
      'returns no token if a request with the same Idempotency-Key is replayed',
      async () => {
        const init = {
          method: 'POST',
          headers: {
            authorization: `Bearer ${alice.key}`,
            'content-type': 'application/json',
            'idempotency-key': 'register-once',
          },
          body: JSON.stringify(toInput('claude-code:replayed')),
        }
        const first = await test.request('/api/v1/agents', init)
        const { agentToken, ...agent } = (await first.json()) as Record<string, unknown>
        expect(agentToken).toMatch(/^sat_/)
        const second = await test.request('/api/v1/agents', init)
        expect(second.headers.get('idempotency-replayed')).toBe('true')
        expect(await second.json()).toEqual(agent)
      },
    )
  })

  describe('a change of an agent', () => {
    const agentKey = 'claude-code:named'
    let token: string
    beforeAll(async () => {
      token = await register(agentKey, 'Before')
    })

    it.each([
      ['no token', async () => undefined],
      ['a forged token', async () => forged],
      ["another agent's token", () => register('claude-code:stranger')],
      ['something else', async () => 'x'],
    ])('with %s is rejected, and changes nothing', async (_, find) => {
      const agentToken = await find()
      const before = await readRow(agentKey)
      test.clock.advance(1000)
      expect(await codeOf(test.apiWith({ agentToken }).registerAgent(toInput(agentKey, 'After')))).toBe('forbidden')
      expect(await codeOf(test.apiWith({ agentToken }, alice).registerAgent(toInput(agentKey, 'After')))).toBe(
        'forbidden',
      )
      expect(await readRow(agentKey)).toEqual(before)
    })

    it('is rejected with a wrong token, even if the agent requires no token', async () => {
      const wrong = test.apiWith({ agentToken: forged })
      expect(await codeOf(wrong.registerAgent(toInput(agentKey, 'Before')))).toBe('forbidden')
      expect(await codeOf(wrong.registerAgent(toInput('claude-code:unknown')))).toBe('forbidden')
      expect(await codeOf(test.api().getAgent({ agentKey: 'claude-code:unknown' }))).toBe('not_found')
    })

    it("stores the name and the last-seen time if the agent's token is sent", async () => {
      test.clock.advance(1000)
      const after = await test.apiWith({ agentToken: token }).registerAgent(toInput(agentKey, 'After'))
      expect(after).toMatchObject({ displayName: 'After', trustScore: 15 })
      expect(Date.parse(after.lastSeenAt)).toBe(test.clock.now())
      expect(after).not.toHaveProperty('agentToken')
      expect((await test.api().getAgent({ agentKey })).displayName).toBe('After')
    })
  })

  describe('a new token for an agent', () => {
    const agentKey = 'claude-code:robbed'

    it('revokes the old token and changes nothing else', async () => {
      const stolen = await register(agentKey)
      await test.apiWith({ agentToken: stolen }, alice).publishSkill({ skillMd: skillMd('before-theft') })
      const { token_hash: old, ...before } = await readRow(agentKey)
      const { agentToken } = await test.admin.api.resetAgentToken({ agentKey })
      expect(agentToken).toMatch(/^sat_[\w-]{43}$/)
      const { token_hash: now, ...after } = await readRow(agentKey)
      expect(after).toEqual(before)
      expect([old, agentToken]).not.toContain(now)
      expect(await codeOf(test.apiWith({ agentToken: stolen }).registerAgent(toInput(agentKey)))).toBe('forbidden')
      expect(await test.apiWith({ agentToken }).registerAgent(toInput(agentKey, 'Back'))).toMatchObject({
        displayName: 'Back',
      })
      const { entries } = await test.admin.api.listAudit({ limit: 100 })
      const entry = entries.find(({ action }) => action === 'agent.reset_token')!
      expect(entry).toMatchObject({ actor: 'root', subject: agentKey })
      expect(JSON.stringify(entries)).not.toContain('sat_')
    })

    it('is issued by administrators only', async () => {
      const before = await readRow(agentKey)
      expect(await codeOf(test.api().resetAgentToken({ agentKey }))).toBe('unauthorized')
      expect(await codeOf(alice.api.resetAgentToken({ agentKey }))).toBe('forbidden')
      expect(await codeOf(test.admin.api.resetAgentToken({ agentKey: 'claude-code:unheard' }))).toBe('not_found')
      expect(await readRow(agentKey)).toEqual(before)
    })
  })

  describe('the list of agents', () => {
    const agents = [
      ['rank:a', { trust_score: 80, last_seen_at: 1000, published_count: 1, review_count: 4 }],
      ['rank:b', { trust_score: 80, last_seen_at: 3000, published_count: 7, review_count: 0 }],
      ['rank:c', { trust_score: 9, last_seen_at: 2000, published_count: 7, review_count: 4 }],
      ['rank:d', { trust_score: 100, last_seen_at: 2000, published_count: 0, review_count: 40 }],
      ['rank:e', { trust_score: 0, last_seen_at: 500, published_count: 0, review_count: 0 }],
    ] as const
    beforeAll(async () => {
      for (const [agentKey, columns] of agents) {
        await register(agentKey)
        await change(agentKey, columns)
      }
    })

    it.each([
      [undefined, 'dabce'],
      ['trust', 'dabce'],
      ['activity', 'bcdae'],
      ['published', 'bcade'],
      ['reviews', 'dacbe'],
    ] as const)('is sorted by %s and then by agent key, on pages that never overlap', async (sort, order) => {
      const keys = [...order].map((letter) => `rank:${letter}`)
      const all = await test.api().listAgents({ sort, platform: 'rank' })
      expect(all).toMatchObject({ total: 5, page: 1, totalPages: 1 })
      expect(all.agents.map(({ agentKey }) => agentKey)).toEqual(keys)
      const paged = []
      for (const page of [1, 2, 3]) {
        const answer = await test.api().listAgents({ sort, platform: 'rank', page, limit: 2 })
        expect(answer).toMatchObject({ total: 5, page, totalPages: 3 })
        paged.push(...answer.agents.map(({ agentKey }) => agentKey))
      }
      expect(paged).toEqual(keys)
      const past = await test.api().listAgents({ sort, platform: 'rank', page: 4, limit: 2 })
      expect(past).toEqual({ agents: [], total: 5, page: 4, totalPages: 3 })
    })

    it('is sorted by agent key, in the same order on every database', async () => {
      const keys = [
        'order:-1',
        'order:.',
        'order:1',
        'order:10',
        'order:B',
        'order:_',
        'order:a',
        'order:aB',
        'order:ab',
      ]
      for (const agentKey of keys.toReversed()) await register(agentKey)
      const { agents: found } = await test.api().listAgents({ platform: 'order' })
      expect(found.map(({ agentKey }) => agentKey)).toEqual(keys)
    })

    it('can be limited to one platform, and has pages of twenty', async () => {
      const { agents: first, total } = await test.api().listAgents()
      expect(first).toHaveLength(20)
      expect(total).toBeGreaterThan(200)
      expect((await test.api().listAgents({ limit: 100 })).agents).toHaveLength(100)
      const none = { agents: [], total: 0, page: 1, totalPages: 0 }
      for (const platform of ['nowhere', 'ran', 'RANKS', "rank' or 1=1 --", ''])
        expect(await test.api().listAgents({ platform })).toEqual(none)
    })

    it.each([
      ['sort', { sort: 'name' }],
      ['limit', { limit: 101 }],
      ['limit', { limit: 0 }],
      ['page', { page: 0 }],
      ['page', { page: 1.5 }],
    ])('is refused with an invalid %s, which the error names', async (path, input) => {
      expect(await fieldsOf(test.api().listAgents(input as never))).toEqual([path])
    })
  })

  describe('the activity of an agent', () => {
    it('is listed newest first, at most fifty actions', async () => {
      const agentToken = await register('busy:one')
      for (let i = 0; i < 60; i++) {
        test.clock.advance(1000)
        await test.apiWith({ agentToken }, alice).publishSkill({ skillMd: skillMd('busy', { body: `${i}` }) })
      }
      const { activity, publishedCount } = await test.api().getAgent({ agentKey: 'busy:one' })
      expect(publishedCount).toBe(60)
      expect(activity).toHaveLength(50)
      expect(activity[0]).toEqual({
        type: 'published',
        at: new Date(test.clock.now()).toISOString(),
        skill: 'alice/busy',
        detail: 'Published version 1.0.59',
      })
      expect(activity.map(({ at }) => at)).toEqual(
        activity
          .map(({ at }) => at)
          .toSorted()
          .toReversed(),
      )
    })

    it('is stored for the newest two hundred actions, while the counters include all', async () => {
      const { writer, read } = partsOf(test.registry).database
      for (const agentKey of ['kept:other', 'kept:one']) await register(agentKey)
      const doThings = (agentKey: string, from: number, count: number) =>
        writer.write(async (trx) => {
          const { id } = (await findAgent(trx, agentKey))!
          const actions = Array.from({ length: count }, (_, i) => ({
            type: 'installed' as const,
            detail: `${from + i}`,
          }))
          await recordActions(trx, { id }, actions, test.clock.now(), { installs: count })
        })
      const readDetails = async (agentKey: string) => {
        const rows = await read
          .selectFrom('agent_activity')
          .innerJoin('agents', 'agents.id', 'agent_activity.agent_id')
          .select('detail')
          .where('agent_key', '=', agentKey)
          .orderBy('agent_activity.id', 'desc')
          .execute()
        return rows.map(({ detail }) => detail)
      }
      await doThings('kept:other', 1, 10)
      await doThings('kept:one', 1, 1200)
      expect(await readDetails('kept:one')).toEqual(numbers(1200, 200))
      await doThings('kept:one', 1201, 1)
      expect(await readDetails('kept:one')).toEqual(numbers(1201, 200))
      expect(await readDetails('kept:other')).toEqual([...numbers(10, 10), 'Registered'])
      expect((await test.api().getAgent({ agentKey: 'kept:one' })).installCount).toBe(1201)
    })

    it('returns 404 for an unknown agent', async () => {
      for (const agentKey of ['busy:two', 'busy', 'busy:ONE', 'busy:one ', '%'])
        expect(await codeOf(test.api().getAgent({ agentKey }))).toBe('not_found')
    })

    it('includes actions on skills that the caller may see, under their current names', async () => {
      const agentToken = await register('seen:one')
      const agent = test.apiWith({ agentToken }, alice)
      for (const visibility of ['public', 'internal', 'private'] as const)
        await agent.publishSkill({ skillMd: skillMd(`seen-${visibility}`), visibility })
      const carol = await test.makeUser('carol')
      await addCollaborator(test, alice, { name: 'alice/seen-private', username: 'carol', role: 'read' })
      const seen = async (user?: TestUser) => {
        const { activity } = await (user?.api ?? test.api()).getAgent({ agentKey: 'seen:one' })
        return activity.map(({ skill, type }) => skill ?? type)
      }
      const ours = ['alice/seen-internal', 'alice/seen-public', 'registered']
      expect(await seen()).toEqual(['alice/seen-public', 'registered'])
      expect(await seen(bob)).toEqual(ours)
      expect(await seen(test.admin)).toEqual(ours)
      expect(await seen(carol)).toEqual(['alice/seen-private', ...ours])
      expect(await seen(alice)).toEqual(['alice/seen-private', ...ours])
      const guests = JSON.stringify(await test.api().getAgent({ agentKey: 'seen:one' }))
      for (const secret of ['seen-private', 'seen-internal', agentToken, alice.key])
        expect(guests).not.toContain(secret)

      await alice.api.transferSkill({ name: 'alice/seen-public', newOwner: 'bob' })
      await bob.api.acceptTransfer({ name: 'alice/seen-public' })
      expect(await seen()).toEqual(['bob/seen-public', 'registered'])
      for (const state of ['taken_down', 'hidden'] as const) {
        await partsOf(test.registry).database.writer.write(async (trx) => {
          await trx.updateTable('skills').set({ state }).where('full_name', '=', 'bob/seen-public').execute()
        })
        expect(await seen(), state).toEqual(['registered'])
      }
    })
  })

  describe('a version that an agent publishes', () => {
    it('is recorded for the agent whose token is sent, and links this agent to the user of the API key', async () => {
      const agentToken = await register('maker:one')
      expect(await readRow('maker:one')).toMatchObject({ user_id: null, authenticated: 0, trust_score: 0 })
      await test.apiWith({ agentToken }, alice).publishSkill({ skillMd: skillMd('made') })
      expect(await published('maker:one')).toBe(1)
      const { userId } = await test.registry.getCaller('alice')
      expect(await readRow('maker:one')).toMatchObject({ user_id: userId, authenticated: 1, trust_score: 18 })
      await test.apiWith({ agentToken }, bob).publishSkill({ skillMd: skillMd('made') })
      expect(await published('maker:one')).toBe(2)
      expect((await readRow('maker:one')).user_id).toBe(userId)
    })

    it('counts as an action of the agent only if the request stores a new version', async () => {
      const agentToken = await register('maker:idle')
      const agent = test.apiWith({ agentToken }, alice)
      await alice.api.publishSkill({ skillMd: skillMd('idle') })
      const before = await readRow('maker:idle')
      test.clock.advance(1000)
      await agent.publishSkill({ skillMd: skillMd('idle') })
      await agent.publishSkill({ skillMd: skillMd('idle', { body: 'New.' }), dryRun: true })
      await agent.publishSkill({ name: 'idle', category: 'changed' })
      expect(await codeOf(agent.publishSkill({ skillMd: skillMd('idle', { body: 'x' }), version: '1.0.0' }))).toBe(
        'version_exists',
      )
      expect(await readRow('maker:idle')).toEqual(before)
      expect(await published('maker:idle')).toBe(0)
    })

    it.each([
      ['a version', { skillMd: skillMd('refused') }],
      ['a dry run', { skillMd: skillMd('refused'), dryRun: true }],
      ['metadata', { name: 'idle', category: 'refused' }],
    ])('is rejected with %s', async (_, input) => {
      expect(await codeOf(test.apiWith({ agentToken: forged }, alice).publishSkill(input))).toBe('forbidden')
      expect(await codeOf(test.api().getSkill({ name: 'alice/refused' }))).toBe('not_found')
      expect((await test.api().getSkill({ name: 'alice/idle' })).category).not.toBe('refused')
    })

    it("requires a user's key in addition to the agent's token", async () => {
      const agentToken = await register('maker:guest')
      expect(await codeOf(test.apiWith({ agentToken }).publishSkill({ skillMd: skillMd('keyless') }))).toBe(
        'unauthorized',
      )
      expect(await published('maker:guest')).toBe(0)
    })
  })
})

describe('the trust score of an agent', () => {
  const counters = fc.record(
    Object.fromEntries(
      trustTable.map(({ counter }) => [counter, fc.nat({ max: counter === 'authenticated' ? 1 : 5000 })]),
    ),
  ) as fc.Arbitrary<TrustCounters>

  it('is a whole number from 0 to 100', () => {
    fc.assert(
      fc.property(counters, (one) => {
        const score = toTrustScore(one)
        expect(Number.isInteger(score) && score >= 0 && score <= 100).toBe(true)
      }),
    )
    expect(trustTable.reduce((sum, { points }) => sum + points, 0)).toBe(100)
    expect(toTrustScore(toCounters(0))).toBe(0)
    expect(toTrustScore(toCounters(1e9))).toBe(100)
  })

  it("never falls when a count of the agent's actions rises", () => {
    const counter = fc.constantFrom(...trustTable.map((row) => row.counter))
    fc.assert(
      fc.property(counters, counter, fc.nat({ max: 5000 }), (one, which, more) => {
        expect(toTrustScore({ ...one, [which]: one[which] + more })).toBeGreaterThanOrEqual(toTrustScore(one))
      }),
    )
  })

  it('rises much more with authenticated actions than with unauthenticated actions', () => {
    const unproven = toTrustScore({ ...toCounters(0), review_count: 1000 })
    const proven = toTrustScore({ ...toCounters(0), authenticated: 1, authenticated_review_count: 5, review_count: 5 })
    expect(unproven).toBe(5)
    expect(proven).toBeGreaterThan(5 * unproven)
  })

  it('cannot reach its maximum by only one kind of action', () => {
    for (const { counter, points } of trustTable)
      expect(toTrustScore({ ...toCounters(0), [counter]: 1e9 }), counter).toBe(points)
  })
})

function toCounters(count: number): TrustCounters {
  return Object.fromEntries(trustTable.map(({ counter }) => [counter, count])) as TrustCounters
}
