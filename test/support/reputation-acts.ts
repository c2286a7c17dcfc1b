import { RegistryError, type RegistryApi } from '@skillstead/protocol'
import { systemCaller } from '@skillstead/core'
import { partsOf, type SkillRow } from '@skillstead/core/internal'
import { changeSkill } from '../../packages/core/src/catalogue/skills/change-skill.ts'
import { updateSkillState } from '../../packages/core/src/catalogue/skills/skill-rows.ts'
import { skillMd } from './answers.ts'
import type { TestRegistry, TestUser } from './harness.ts'

/** One action of a user. The numbers select the user, skill and other objects. */
export interface Act {
  readonly kind: keyof typeof acts
  readonly who: number
  readonly what: number
  readonly how: number
}

/** Authors with skills, and agents without an owner until an agent registers with an author's key. */
export interface World {
  readonly test: TestRegistry
  readonly users: readonly TestUser[]
  readonly agents: readonly TestAgent[]
}

let worlds = 0

export async function makeWorld(test: TestRegistry): Promise<World> {
  worlds++
  const users = []
  for (const name of ['ann', 'ben', 'cal']) users.push(await test.makeUser(`${name}-${worlds}`))
  const agents = []
  for (const name of ['one', 'two', 'three', 'four']) agents.push(await makeAgent(test, `law:${name}-${worlds}`))
  return { test, users, agents }
}

/** Performs the action if possible. Refused actions are expected. */
export async function perform(world: World, { kind, who, what, how }: Act): Promise<void> {
  const user = pick(world.users, who)
  const skills = await readSkills(world)
  if (skills.length === 0 && kind !== 'publish') return
  try {
    await acts[kind](world, { user, api: user.api, skill: pick(skills, what), how })
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
  }
}

interface Cause {
  readonly user: TestUser
  readonly api: RegistryApi
  readonly skill: SkillRow
  readonly how: number
}

const acts = {
  publish: (_world, { api, how }) => {
    const name = `skill-${how % 3}`
    const description = how % 2 === 0 ? 'Short.' : 'Long enough to say what the skill is for and when to use it.'
    const more = how % 5 === 0 ? {} : { license: 'MIT', category: 'testing' }
    const visibility = how % 7 === 0 ? ('private' as const) : undefined
    const text = skillMd(name, { description, body: `Body ${how}.` })
    const notPortable = text.replace('---\n', '---\nhomepage: https://example.com\n')
    return api.publishSkill({ skillMd: how % 4 === 0 ? notPortable : text, visibility, ...more })
  },
  publishFurther: (world, { skill, how }) =>
    ownerOf(world, skill).api.publishSkill({ skillMd: skillMd(skill.name, { body: `Further ${how}.` }) }),
  show: (world, { skill, how }) => {
    const visibility = pick(['public', 'private', 'internal', 'public'] as const, how)
    return ownerOf(world, skill).api.publishSkill({ skillMd: skillMd(skill.name), visibility })
  },
  yank: async (world, { skill, how }) => {
    const { api } = ownerOf(world, skill)
    const { versions } = await api.listVersions({ name: skill.full_name })
    const { version, yanked } = pick(versions, how)
    const input = { name: skill.full_name, version }
    await (yanked ? api.unyankVersion(input) : api.yankVersion(input))
  },
  star: (_world, { api, skill }) => api.starSkill({ name: skill.full_name }),
  unstar: (_world, { api, skill }) => api.unstarSkill({ name: skill.full_name }),
  fork: (_world, { api, skill, how }) => api.forkSkill({ name: skill.full_name, newName: `fork-${how % 2}` }),
  delete: (_world, { api, skill }) => api.deleteSkill({ name: skill.full_name }),
  handOver: async (world, { user, api, skill }) => {
    await ownerOf(world, skill).api.transferSkill({ name: skill.full_name, newOwner: user.username })
    await api.acceptTransfer({ name: skill.full_name })
  },
  review: (_world, { api, skill, how }) =>
    api.createReview({ name: skill.full_name, rating: 1 + (how % 5), title: 'Tried it', body: '' }),
  reviewAsAgent: ({ test, agents }, { user, skill, how }) =>
    reviewAsAgent(test, pick(agents, how), skill.full_name, 1 + (how % 41) / 10, pick([user, undefined, user], how)),
  reviewWithoutToken: (_world, { api, skill, how }) =>
    api.createAgentReview({ name: skill.full_name, agentKey: `law:lone-${how % 3}`, rating: 5, content: 'Great.' }),
  reviewAsOwnAgent: (world, { skill, how }) =>
    reviewAsAgent(world.test, pick(world.agents, how), skill.full_name, 1 + (how % 41) / 10, ownerOf(world, skill)),
  moderate: ({ test }, { skill, how }) => {
    const state = pick(['shown', 'flagged', 'hidden'] as const, how)
    return test.admin.api.moderateSkill({ name: skill.full_name, state, reason: 'Because.' })
  },
  takeDown: ({ test }, { skill, how }) => takeDown(test, skill, how % 2 === 0),
  download: ({ test }, { skill, how }) => download(test, skill.id, how),
  verify: ({ test }, { user, how }) => verify(test, user, how % 2 === 0),
} satisfies Record<string, (world: World, cause: Cause) => Promise<unknown>>

export const actKinds = Object.keys(acts) as (keyof typeof acts)[]

/** An agent with the token that it was given. */
export interface TestAgent {
  readonly agentKey: string
  readonly agentToken: string
}

export async function makeAgent(test: TestRegistry, agentKey: string): Promise<TestAgent> {
  const platformId = agentKey.split(':')[0]!
  const { agentToken } = await test.api().registerAgent({ agentKey, displayName: agentKey, platformId })
  return { agentKey, agentToken: agentToken! }
}

/** A review by an agent with its token, as the agent of a user where one is given. */
export function reviewAsAgent(test: TestRegistry, agent: TestAgent, name: string, rating: number, user?: TestUser) {
  const api = test.apiWith({ agentToken: agent.agentToken }, user)
  return api.createAgentReview({ name, agentKey: agent.agentKey, rating, content: 'Tried it.' })
}

/** A takedown that is carried out, or the end of one. */
export async function takeDown(test: TestRegistry, skill: SkillRow, down: boolean) {
  await change(test, skill, async (trx, before) => {
    await trx.updateTable('dmca_cases').set({ status: 'restored' }).where('skill_id', '=', skill.id).execute()
    const notice = { id: crypto.randomUUID(), skill_id: skill.id, status: 'removed' as const, notice: '{}' }
    const row = { ...notice, token_hash: crypto.randomUUID(), counter_notice_until: null, submitted_at: 0 }
    if (down) await trx.insertInto('dmca_cases').values(row).execute()
    await updateSkillState(trx, before)
    return true
  })
}

/** Downloads by others than the owner, as the node counts them. */
export async function download({ registry }: TestRegistry, skillId: string, count: number) {
  for (let i = 0; i < count; i++)
    partsOf(registry).counters.countDownload({ id: skillId, ownerId: '', version: '1.0.0' })
  await partsOf(registry).counters.flush()
}

/** Verifies a user by an administrator's decision, or takes that back. */
export async function verify(test: TestRegistry, { api, username }: TestUser, verified = true) {
  const { id } = await api.verifyAuthor({ username, method: 'manual', proof: 'Ask me.' })
  await test.admin.api.decideVerification({ id, status: verified ? 'verified' : 'rejected' })
}

/** The row of a skill, for what is below the interface. */
export function readSkill(test: TestRegistry, fullName: string): Promise<SkillRow> {
  return partsOf(test.registry)
    .database.read.selectFrom('skills')
    .selectAll()
    .where('full_name', '=', fullName)
    .executeTakeFirstOrThrow()
}

type Work = Parameters<typeof changeSkill>[4]

function change({ registry }: TestRegistry, skill: SkillRow, work: Work) {
  const what = { action: 'test', subject: skill.full_name, cause: { type: 'skill' } as const }
  return changeSkill(partsOf(registry), systemCaller, skill, what, work)
}

function ownerOf({ users }: World, skill: SkillRow): TestUser {
  return users.find(({ username }) => username === skill.owner)!
}

function readSkills({ test, users }: World): Promise<SkillRow[]> {
  const owners = users.map(({ username }) => username)
  return partsOf(test.registry)
    .database.read.selectFrom('skills')
    .selectAll()
    .where('owner', 'in', owners)
    .orderBy('num')
    .execute()
}

function pick<T>(items: readonly T[], index: number): T {
  return items[index % items.length]!
}
