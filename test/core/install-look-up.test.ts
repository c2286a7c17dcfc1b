import { guest, localApi, type Caller, type Registry } from '@skillstead/core'
import { partsOf, newId, insertSkill } from '@skillstead/core/internal'
import { RegistryError, toVersionSortKey, updateReasons } from '@skillstead/protocol'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { lookUpSkills, type KnownSkill } from '../../packages/core/src/community/look-up-installs.ts'
import { toUpdateReason } from '../../packages/core/src/community/install-updates.ts'
import { findMovedSkill } from '../../packages/core/src/catalogue/skills/find-skill.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { countQueries } from '../support/count-queries.ts'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'

describe('the reason for an update', () => {
  const version = fc.constantFrom('0.9.0', '1.0.0', '1.0.1', '1.10.0', '2.0.0', 'v1', '')
  const installed = fc.record({
    takenDown: fc.boolean(),
    isFlagged: fc.boolean(),
    fault: fc.constantFrom('recalled' as const, 'yanked' as const, 'drifted' as const, undefined),
    deprecated: fc.boolean(),
    had: version,
    latest: fc.constantFrom('1.0.0', '1.2.0', '1.10.0', ''),
  })
  type Facts = typeof installed extends fc.Arbitrary<infer T> ? T : never

  const toSkill = ({ isFlagged, deprecated, latest }: Facts) =>
    ({
      moderation: isFlagged ? 'flagged' : 'shown',
      deprecated: Number(deprecated),
      latest_version: latest,
    }) as KnownSkill
  const reasonOf = (facts: Facts) => {
    const { takenDown, fault, had } = facts
    return toUpdateReason({ skill: toSkill(facts), takenDown, fault, item: { skillName: 'x', version: had } })
  }
  const well = { takenDown: false, isFlagged: false, fault: undefined, deprecated: false }
  const worse: Partial<Facts>[] = [
    { takenDown: true },
    { isFlagged: true },
    { fault: 'recalled' },
    { fault: 'yanked' },
    { fault: 'drifted' },
    { deprecated: true },
  ]

  const is = (had: string, latest: string) => reasonOf({ ...well, had, latest } as Facts)

  it('is the first reason that applies, in the order of severity', () => {
    const order = [
      'taken_down',
      'flagged',
      'recalled',
      'yanked',
      'drifted',
      'dependency_withdrawn',
      'deprecated',
      'outdated',
    ]
    expect([...updateReasons]).toEqual(order)
    fc.assert(
      fc.property(installed, (facts) => {
        const alone = worse.map((one) => {
          const [[key, value]] = Object.entries(one) as [[keyof Facts, unknown]]
          return facts[key] === value ? reasonOf({ ...facts, ...well, ...one }) : undefined
        })
        const expected = [...alone, reasonOf({ ...facts, ...well })].find((reason) => reason !== undefined)
        expect(reasonOf(facts)).toBe(expected)
        expect(expected === undefined || order.includes(expected)).toBe(true)
      }),
    )
  })

  it('is missing if the installed version is the latest version or newer', () => {
    expect(is('1.10.0', '1.9.0')).toBeUndefined()
    expect(is('1.9.0', '1.10.0')).toBe('outdated')
    expect(is('1.10.0', '1.10.0')).toBeUndefined()
    expect(is('1.0', '1.0.0')).toBe('outdated')
    expect(is('anything', '')).toBeUndefined()
  })
})

describeDatabases('heartbeats', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  it('resolve each name like a look-up of a single skill', async () => {
    const refs = ['open', 'inner', 'closed', 'shared', 'moved', 'hidden', 'gone', 'taken', 'closed-taken', 'never']
    for (const name of refs.slice(0, -1)) await alice.api.publishSkill({ skillMd: skillMd(name) })
    for (const name of ['closed', 'moved']) await bob.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.publishSkill({ name: 'inner', visibility: 'internal' })
    for (const name of ['closed', 'shared', 'closed-taken'])
      await alice.api.publishSkill({ name, visibility: 'private' })
    await addCollaborator(test, alice, { name: 'alice/shared', username: 'bob', role: 'read' })
    const carol = await test.makeUser('carol')
    await alice.api.transferSkill({ name: 'alice/moved', newOwner: 'carol' })
    await carol.api.acceptTransfer({ name: 'alice/moved' })
    await alice.api.deleteSkill({ name: 'alice/gone' })
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set({ state: 'hidden' }).where('name', '=', 'hidden').execute()
      await trx.updateTable('skills').set({ state: 'taken_down' }).where('name', 'like', '%taken').execute()
    })
    const names = refs.flatMap((name) => [name, ...['alice', 'bob', 'carol'].map((owner) => `${owner}/${name}`)])
    const callers = await Promise.all(['alice', 'bob', 'carol', 'root'].map((name) => test.registry.getCaller(name)))
    for (const caller of [guest, ...callers]) {
      const alone = await Promise.all(names.map((name) => findAlone(test.registry, name, caller)))
      const { found } = await lookUpSkills(partsOf(test.registry), new Set(names), caller)
      const together = names.map((name) => {
        const one = found.get(name)
        return one && `${one.skill.full_name}${one.takenDown ? ', taken down' : ''}`
      })
      expect(together).toEqual(alone)
    }
  })

  it('need the same number of queries for a thousand skills as for ten', async () => {
    const dora = await test.registry.getCaller((await test.makeUser('dora')).username)
    await makeSkills(test.registry, dora, 1004)
    await localApi(test.registry, dora).createPack({ name: 'Some', description: '', skills: ['s-1', 's-1003'] })
    const more = ['s-1000', 's-1002']
    for (const name of ['similar-1', 'similar-2']) {
      const caller = await test.registry.getCaller((await test.makeUser(name)).username)
      await report({ size: 10, more, agentKey: `cli:${name}`, caller })
    }

    const few = await report({ size: 10, agentKey: 'cli:few', caller: dora })
    const many = await report({ size: 1000, agentKey: 'cli:many', caller: dora })
    expect(new Set(few.recommendations.map(({ reason }) => reason.split(' ', 1)[0]))).toEqual(
      new Set(['Installed', 'In', 'Popular']),
    )
    expect(many.updates.length).toBeGreaterThan(600)
    expect({ first: many.first, again: many.again }).toEqual({ first: few.first, again: few.again })
    expect(many.again).toBeLessThan(few.first)
  })

  /** The response to a new agent, and the number of queries for it and for its repetition. */
  async function report({ size, more = [], agentKey, caller }: Report) {
    const agent = { agentKey, displayName: agentKey, platformId: 'cli' }
    const { agentToken } = await localApi(test.registry).registerAgent(agent)
    const { counted, count } = countQueries(test.registry)
    const api = localApi(counted, caller, { agentToken: agentToken! })
    // Every kind of name and response, so that every query is made.
    const given = Array.from({ length: size }, (_, i) => ({
      skillName: i % 7 === 0 ? `nowhere-${i}` : i % 3 === 0 ? `s-${i}` : `dora/s-${i}`,
      version: i % 2 === 0 ? '0.9.0' : '1.0.0',
      digest: `sha256:${'0'.repeat(64)}`,
    }))
    const installedSkills = [...given, ...more.map((skillName) => ({ skillName, version: '0.9.0' }))]
    const { updates, unknown, recommendations } = await api.heartbeat({ agentKey, installedSkills })
    expect(updates.length + unknown.length).toBe(installedSkills.length)
    const first = count()
    await api.heartbeat({ agentKey, installedSkills })
    return { updates, recommendations, first, again: count() - first }
  }
})

interface Report {
  readonly size: number
  readonly more?: readonly string[]
  readonly agentKey: string
  readonly caller: Caller
}

/** Skills `s-0`, `s-1` and so on: some private, some deprecated, each with a version. */
async function makeSkills(registry: Registry, caller: Caller, count: number): Promise<void> {
  if (caller.kind !== 'user') throw new TypeError('Skills have an owner.')
  const owner = { id: caller.userId, username: caller.username }
  const at = partsOf(registry).clock.now()
  await partsOf(registry).database.writer.write(async (trx) => {
    for (let i = 0; i < count; i++) {
      const id = await insertSkill(trx, { owner, fields: { name: `s-${i}` } }, at)
      const columns = {
        latest_version: '1.0.0',
        security_score: 100,
        category: 'plants',
        deprecated: Number(i % 5 === 1),
      }
      const isPrivate = i % 11 === 5
      await trx
        .updateTable('skills')
        .set({ ...columns, deprecation_message: 'See dora/s-2.', visibility: isPrivate ? 'private' : 'public' })
        .where('id', '=', id)
        .execute()
      if (!isPrivate)
        await trx
          .insertInto('holders')
          .values({ name: `s-${i}`, skill_id: id })
          .execute()
      const publisher = { publisher_id: owner.id, publisher: owner.username, published_at: at }
      const content = {
        digest: `sha256:${'1'.repeat(64)}`,
        size: 1,
        changelog: '',
        portable: 1,
        metadata: '{}',
        requires: '',
      }
      const version = { version: '1.0.0', sort_key: toVersionSortKey('1.0.0'), yanked: 0 }
      const versionId = newId()
      await trx
        .insertInto('versions')
        .values({ id: versionId, skill_id: id, ...version, ...content, ...publisher })
        .execute()
      const scan = {
        score: 100,
        verdict: 'safe',
        risk: 'low',
        rules_version: '',
        scanned_at: at,
        report: '{}',
      } as const
      await trx
        .insertInto('scans')
        .values({ version_id: versionId, skill_id: id, ...scan })
        .execute()
    }
  })
}

async function findAlone(registry: Registry, name: string, caller: Caller): Promise<string | undefined> {
  try {
    return (await findMovedSkill(partsOf(registry), name, caller))?.full_name
  } catch (error) {
    if (!(error instanceof RegistryError) || error.code !== 'taken_down') throw error
    return `${error.message.split(' ', 1)[0]}, taken down`
  }
}
