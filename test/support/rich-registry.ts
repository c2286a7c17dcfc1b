import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { withUpstreams } from '../../packages/mirror/src/tables/mirror-tables.ts'

/** What was done in a registry, so that a test knows what must still be there later. */
export interface Rich {
  readonly registry: Registry
  /** The API as a user that was created before. */
  as(username: string): Promise<RegistryApi>
  /** API keys by the names of the users. */
  readonly keys: Map<string, string>
}

const skillMd = (name: string, body: string) =>
  `---\nname: ${name}\ndescription: What ${name} does, told at some length.\n---\n\n# ${name}\n\n${body}\n`
const prose = (subject: string) =>
  Array.from({ length: 30 }, (_, i) => `Step ${i}: look at ${subject} number ${i * 7} before anything else.`).join('\n')

const nothing = { credential: null, account: null, log_origin: null, log_epoch: null, checkpoint: null, alarm: null }
const never = { checkpoint_at: null, tried_at: null, synced_at: null, lease: null, lease_until: 0 }
const emptyTexts = { settings: '{}', keys: '[]', cursor: '{}', report: '{}' }
const emptyUpstream = { ...nothing, ...never, ...emptyTexts, staged: 0, verified: 0, applied: 0 }

/** Makes everything that a registry can hold. */
export async function fillRegistry(registry: Registry): Promise<Rich> {
  const as = async (username: string) => localApi(registry, await registry.getCaller(username))
  const rich: Rich = { registry, as, keys: new Map() }
  // Each builds on those before it.
  for (const fill of [fillFoundation, fillCommunity, fillTrust, fillUsage, fillWebhooks, addUpstream]) await fill(rich)
  await partsOf(registry).counters.flush()
  await partsOf(registry).telemetry.flush()
  return rich
}

async function fillFoundation({ registry, as, keys }: Rich): Promise<void> {
  const system = localApi(registry, systemCaller)
  for (const username of ['alice', 'bob', 'carol']) {
    const { key } = await system.createUser({
      username,
      plan: 'enterprise',
      role: username === 'alice' ? 'admin' : 'user',
    })
    keys.set(username, key)
  }
  const [alice, bob, carol] = [await as('alice'), await as('bob'), await as('carol')]
  const files = [
    { path: 'data/table.csv', content: 'a,b\n'.repeat(500), encoding: 'utf8' as const },
    {
      path: 'logo.png',
      content: Buffer.from(Array.from({ length: 300 }, (_, i) => i % 251)).toString('base64'),
      encoding: 'base64' as const,
    },
  ]
  await alice.publishSkill({ skillMd: skillMd('tool', prose('a tool')), version: '1.0.0', files, changelog: 'First.' })
  await alice.publishSkill({ skillMd: skillMd('tool', prose('a better tool')), version: '1.1.0', files })
  await alice.publishSkill({
    name: 'tool',
    category: 'tools',
    keywords: ['tapir', '図書館'],
    repository: 'https://example.com/x',
  })
  await alice.publishSkill({ skillMd: skillMd('private-tool', prose('secrets')), visibility: 'private' })
  await alice.publishSkill({ skillMd: skillMd('moving', prose('removal')), version: '2.0.0' })
  await alice.publishSkill({ skillMd: skillMd('gone', prose('leaving')) })
  await alice.deleteSkill({ name: 'alice/gone' })
  await bob.publishSkill({ skillMd: skillMd('tool', prose('another tool')), version: '0.1.0' })
  await bob.publishSkill({ skillMd: skillMd('yanked', prose('yanking')), version: '1.0.0' })
  // Enough entries to fill a tile of the log's tree.
  for (let i = 0; i < 125; i += 1) {
    await bob.yankVersion({ name: 'bob/yanked', version: '1.0.0' })
    await bob.unyankVersion({ name: 'bob/yanked', version: '1.0.0' })
  }
  await bob.publishSkill({ skillMd: skillMd('yanked', prose('yanking more')), version: '1.1.0' })
  await bob.yankVersion({ name: 'bob/yanked', version: '1.1.0' })
  await bob.forkSkill({ name: 'alice/tool' }).catch(() => undefined)
  await carol.forkSkill({ name: 'alice/tool' })
  await alice.transferSkill({ name: 'alice/moving', newOwner: 'carol' })
  await carol.acceptTransfer({ name: 'alice/moving' })
  await bob.starSkill({ name: 'alice/tool' })
  await carol.starSkill({ name: 'alice/tool' })
  await alice.createShare({ name: 'alice/private-tool' })
  await alice.putCollaborator({ name: 'alice/private-tool', username: 'bob', role: 'read' })
  await bob.acceptCollaboration({ name: 'alice/private-tool' })
  await alice.createPack({ name: 'Pack', description: 'Things.', skills: ['alice/tool', 'bob/tool'] })
  await bob.followUser({ username: 'alice' })
  await bob.updateMe({
    displayName: 'Bob B.',
    avatar: { contentType: 'image/png', content: Buffer.from('89504e470d0a1a0a', 'hex').toString('base64') },
  })
}

async function fillCommunity({ registry, as }: Rich): Promise<void> {
  const [bob, carol] = [await as('bob'), await as('carol')]
  const guest = localApi(registry)
  const registered = { agentKey: 'codex:one', displayName: 'One', platformId: 'codex' }
  const { agentToken } = await guest.registerAgent(registered)
  const agent = localApi(registry, await registry.getCaller('bob'), { agentToken })
  const review = await agent.createAgentReview({
    name: 'alice/tool',
    agentKey: 'codex:one',
    rating: 4.5,
    content: 'Works.',
  })
  await guest.registerAgent({ agentKey: 'codex:two', displayName: 'Two', platformId: 'codex' })
  await guest.markAgentReviewHelpful({ name: 'alice/tool', id: review.id, agentKey: 'codex:two' })
  await agent.heartbeat({ agentKey: 'codex:one', installedSkills: [{ skillName: 'alice/tool', version: '1.0.0' }] })
  await bob.createReview({ name: 'alice/tool', rating: 5, title: 'Good', body: 'Very.' })
  await carol.createReview({ name: 'alice/tool', rating: 2, title: 'Less good', body: 'For me.' })
  await bob.createIssue({ name: 'alice/tool', type: 'bug', title: 'Broken', body: 'It is.' })
  const request = await bob.createRequest({ title: 'Wanted', description: 'A thing.' })
  await carol.voteForRequest({ id: request.id })
}

async function fillTrust({ registry, as }: Rich): Promise<void> {
  const [alice, bob, carol] = [await as('alice'), await as('bob'), await as('carol')]
  const { id } = await bob.verifyAuthor({ username: 'bob', method: 'manual', proof: 'It is me.' })
  await alice.decideVerification({ id, status: 'verified' })
  await bob.publishSkill({ skillMd: skillMd('hidden', prose('hiding')) })
  await alice.moderateSkill({ name: 'bob/hidden', state: 'hidden', reason: 'Looked at.' })
  await carol.reportSkill({ name: 'alice/tool', reason: 'spam' })
  await carol.publishSkill({ skillMd: skillMd('claimed', prose('claims')) })
  const { id: caseId } = await localApi(registry).submitDmca({
    skillName: 'carol/claimed',
    claimantName: 'C. Laimant',
    claimantEmail: 'c@claims.example',
    workDescription: 'A book.',
    originalUrl: 'https://claims.example/book',
    goodFaith: true,
    accuracy: true,
    signature: 'C. Laimant',
  })
  for (const status of ['under_review', 'removed'] as const) await alice.updateDmca({ id: caseId, status })
}

async function fillUsage({ registry, as }: Rich): Promise<void> {
  const guest = localApi(registry)
  for (let i = 0; i < 3; i += 1) await guest.track({ skillName: 'alice/tool', agents: ['claude-code'] })
  await guest.getSkillMd({ name: 'alice/tool' })
  const alice = await as('alice')
  await alice.addExternal({ url: 'https://raw.githubusercontent.com/acme/docs/main/pdf/SKILL.md', installs: 12 })
}

async function fillWebhooks({ as }: Rich): Promise<void> {
  const bob = await as('bob')
  await bob.createWebhook({ url: 'https://hooks.example.com/in', events: ['skill.starred'] })
  await (await as('alice')).createWebhook({ url: 'https://hooks.example.com/own', events: ['skill.published'] })
  await bob.publishSkill({ skillMd: skillMd('hooked', prose('hooks')), version: '0.1.0' })
}

async function addUpstream({ registry }: Rich): Promise<void> {
  const row = {
    name: 'main',
    kind: 'node',
    location: 'https://main.example.com',
    created_at: partsOf(registry).clock.now(),
  } as const
  await partsOf(registry).database.writer.write((trx) =>
    withUpstreams(trx)
      .insertInto('upstreams')
      .values({ ...emptyUpstream, ...row, frontier: Buffer.alloc(0) })
      .execute(),
  )
}
