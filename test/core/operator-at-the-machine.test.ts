import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { checked } from '../support/ways-in.ts'

describeDatabases('the operator on the machine', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let operator: RegistryApi
  let requestId: string
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    operator = checked(localApi(test.registry, systemCaller))
    for (const name of ['tool', 'other']) await alice.api.publishSkill({ skillMd: skillMd(name) })
    requestId = (await alice.api.createRequest({ title: 'Wanted', description: '' })).id
  })

  const name = 'alice/tool'
  const avatar = {
    contentType: 'image/png' as const,
    content: Buffer.from('89504e470d0a1a0a', 'hex').toString('base64'),
  }
  const actions: [string, () => Promise<unknown>][] = [
    ['publishSkill', () => operator.publishSkill({ skillMd: skillMd('own') })],
    ['publishSkill, as a dry run', () => operator.publishSkill({ skillMd: skillMd('own'), dryRun: true })],
    ['publishSkill, of metadata', () => operator.publishSkill({ name, category: 'taken' })],
    ['forkSkill', () => operator.forkSkill({ name })],
    ['starSkill', () => operator.starSkill({ name })],
    ['unstarSkill', () => operator.unstarSkill({ name })],
    ['createShare', () => operator.createShare({ name })],
    ['transferSkill', () => operator.transferSkill({ name, newOwner: 'root' })],
    ['acceptTransfer', () => operator.acceptTransfer({ name })],
    ['cancelTransfer', () => operator.cancelTransfer({ name })],
    ['createPack', () => operator.createPack({ name: 'Pack', description: '', skills: [name] })],
    ['createReview', () => operator.createReview({ name, rating: 5, title: 'Good', body: '' })],
    ['createIssue', () => operator.createIssue({ name, type: 'bug', title: 'Broken', body: '' })],
    ['voteForRequest', () => operator.voteForRequest({ id: requestId })],
    ['withdrawRequestVote', () => operator.withdrawRequestVote({ id: requestId })],
    ['reportCopy', () => operator.reportCopy({ name, originalSkillId: 'alice/other', evidence: 'x' })],
    ['appealModeration', () => operator.appealModeration({ name, statement: 'x' })],
    ['verifyAuthor', () => operator.verifyAuthor({ username: 'alice', method: 'manual', proof: 'x' })],
    ['followUser', () => operator.followUser({ username: 'alice' })],
    ['unfollowUser', () => operator.unfollowUser({ username: 'alice' })],
    ['getMe', () => operator.getMe()],
    ['updateMe', () => operator.updateMe({ displayName: 'System', avatar })],
    ['createApiKey', () => operator.createApiKey({ name: 'x' })],
    ['createSession', () => operator.createSession()],
  ]

  it.each(actions)('has no user account, so that %s is refused without effect', async (_, act) => {
    const before = await countEverything()
    const { code, message } = await refusalOf(act())
    expect(code).toBe('forbidden')
    expect(message).toMatch(/act as a user|^Only /i)
    expect(await countEverything()).toEqual(before)
  })

  it('can request and report skills without a user account', async () => {
    const request = await operator.createRequest({ title: 'Also wanted', description: '' })
    expect(request).toMatchObject({ status: 'open', requester: null })
    expect((await operator.updateRequest({ id: request.id, status: 'closed' })).status).toBe('closed')
    const { id } = await operator.reportSkill({ name, reason: 'spam' })
    const { reports } = await operator.listReports()
    expect(reports).toMatchObject([{ id, reason: 'spam', reporter: null }])
    expect((await operator.decideReport({ id, status: 'dismissed' })).status).toBe('dismissed')
  })

  it('can register an agent without linking it to a user', async () => {
    const agentKey = 'codex:operated'
    const input = { agentKey, displayName: 'Operated', platformId: 'codex' }
    const { agentToken } = await operator.registerAgent(input)
    const agent = checked(localApi(test.registry, systemCaller, { agentToken }))
    await agent.createAgentReview({ name, agentKey, rating: 4, content: 'Works.' })
    await agent.heartbeat({ agentKey, installedSkills: [{ skillName: name, version: '1.0.0' }] })
    const row = await partsOf(test.registry)
      .database.read.selectFrom('agents')
      .select(['user_id', 'authenticated', 'install_count'])
      .where('agent_key', '=', agentKey)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ user_id: null, authenticated: 1, install_count: 1 })
  })

  async function countEverything() {
    const counts: Record<string, number> = {}
    for (const table of tables) {
      const { count } = await partsOf(test.registry)
        .database.read.selectFrom(table)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      counts[table] = count
    }
    return counts
  }
})

const tables = [
  ...(['skills', 'versions', 'stars', 'shares', 'transfers', 'packs', 'reviews', 'issues', 'request_votes'] as const),
  ...(['copy_reports', 'reports', 'verifications', 'follows', 'avatars', 'api_keys', 'sessions', 'audit'] as const),
]
