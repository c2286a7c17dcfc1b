import { partsOf } from '@skillstead/core/internal'
import { endpoints, type EndpointName, type RegistryApi } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { createStub } from '../support/create-stub.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { bytesOf, codeOf, skillMd, textOf } from '../support/answers.ts'
import { counterNotice, makeCase, notice, publish, runOut, type Submitted } from '../support/dmca-cases.ts'
import { result } from '../support/evaluation-acts.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

type Act = (api: RegistryApi, name: string) => Promise<unknown>

/** All endpoints that read a skill by name. */
const reads: Partial<Record<EndpointName, Act>> = {
  getSkill: (api, name) => api.getSkill({ name }),
  getSkillMd: (api, name) => api.getSkillMd({ name }),
  getArchive: (api, name) => api.getArchive({ name }),
  getFile: (api, name) => api.getFile({ name, path: 'SKILL.md' }),
  listVersions: (api, name) => api.listVersions({ name }),
  getVersion: (api, name) => api.getVersion({ name, version: '1.0.0' }),
  loadSkill: (api, name) => api.loadSkill({ name }),
  diffSkill: (api, name) => api.diffSkill({ name, from: '1.0.0', to: '1.0.1' }),
  getSimilarity: (api, name) => api.getSimilarity({ name }),
  getProvenance: (api, name) => api.getProvenance({ name }),
  listEvaluations: (api, name) => api.listEvaluations({ name, version: '1.0.0' }),
  getSbom: (api, name) => api.getSbom({ name, version: '1.0.0' }),
  listReviews: (api, name) => api.listReviews({ name }),
  listIssues: (api, name) => api.listIssues({ name }),
  listAgentReviews: (api, name) => api.listAgentReviews({ name }),
  listForks: (api, name) => api.listForks({ name }),
  listDependents: (api, name) => api.listDependents({ name }),
  getDownloads: (api, name) => api.getDownloads({ name }),
}

/** All actions on a skill that any of its readers may take. */
const actions: Partial<Record<EndpointName, Act>> = {
  forkSkill: (api, name) => api.forkSkill({ name, newName: 'stolen' }),
  starSkill: (api, name) => api.starSkill({ name }),
  getStar: (api, name) => api.getStar({ name }),
  unstarSkill: (api, name) => api.unstarSkill({ name }),
  createEvaluation: (api, name) =>
    api.createEvaluation({ name, version: '1.0.0', digest: `sha256:${'0'.repeat(64)}`, ...result() }),
  deleteEvaluation: (api, name) => api.deleteEvaluation({ name, version: '1.0.0', username: 'alice' }),
  createReview: (api, name) => api.createReview({ name, rating: 1, title: 'T', body: 'B' }),
  createIssue: (api, name) => api.createIssue({ name, type: 'bug', title: 'T', body: 'B' }),
  createAgentReview: (api, name) =>
    api.createAgentReview({ name, agentKey: 'claude:one', rating: 1, content: 'Content.' }),
  markAgentReviewHelpful: (api, name) => api.markAgentReviewHelpful({ name, id: 'x', agentKey: 'claude:one' }),
  reportCopy: (api, name) => api.reportCopy({ name, originalSkillId: 'x', evidence: 'E' }),
  reportSkill: (api, name) => api.reportSkill({ name, reason: 'spam' }),
}

/** Actions that only the owner may take. */
const ownerActions: Partial<Record<EndpointName, Act>> = {
  deleteSkill: (api, name) => api.deleteSkill({ name }),
  yankVersion: (api, name) => api.yankVersion({ name, version: '1.0.0' }),
  unyankVersion: (api, name) => api.unyankVersion({ name, version: '1.0.0' }),
  transferSkill: (api, name) => api.transferSkill({ name, newOwner: 'bob' }),
  listCollaborators: (api, name) => api.listCollaborators({ name }),
  putCollaborator: (api, name) => api.putCollaborator({ name, username: 'bob', role: 'write' }),
  deleteCollaborator: (api, name) => api.deleteCollaborator({ name, username: 'bob' }),
  createShare: (api, name) => api.createShare({ name }),
  listShares: (api, name) => api.listShares({ name }),
  deleteShare: (api, name) => api.deleteShare({ name, id: 'x' }),
  getSkillPolicy: (api, name) => api.getSkillPolicy({ name }),
  setSkillPolicy: (api, name) => api.setSkillPolicy({ name, policy: {} }),
  listInstallers: (api, name) => api.listInstallers({ name }),
}

/** Endpoints for the parties of an offer or invitation, for moderation, and for recalls, in any state of the skill. */
const otherwise = [
  'acceptCollaboration',
  'acceptTransfer',
  'cancelTransfer',
  'appealModeration',
  'getModeration',
  'moderateSkill',
  'listRecalls',
  'recallSkill',
  'endRecall',
]

it('every endpoint about a skill has a takedown test', () => {
  const named = Object.entries(endpoints).filter(([, { path }]) => path.includes(':name'))
  const held = [...Object.keys({ ...reads, ...actions, ...ownerActions }), ...otherwise]
  expect(named.map(([name]) => name).toSorted()).toEqual(held.toSorted())
})

describeApi('a skill under a takedown', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let removed: Submitted
  let digests: { own: string; shared: string }
  let before: Awaited<ReturnType<typeof look>>
  let head: number
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    // The former name of a transferred skill resolves to it.
    await publish(bob, 'rose')
    await bob.api.transferSkill({ name: 'rose', newOwner: 'alice' })
    await alice.api.acceptTransfer({ name: 'bob/rose' })
    const license = { path: 'LICENSE', content: 'Everyone has this text.' }
    const { skill } = await alice.api.publishSkill({
      skillMd: skillMd('rose', { description: 'Rose zygomorph.', body: 'Second.' }),
      category: 'Roses',
      files: [license],
    })
    await alice.api.publishSkill({
      skillMd: skillMd('tulip', { description: 'Tulip zygomorph.' }),
      files: [license],
    })
    await bob.api.forkSkill({ name: 'rose', newName: 'rose-fork' })
    await bob.api.createPack({ name: 'Flowers', description: '', skills: ['rose', 'tulip'] })
    const [own, shared] = ['SKILL.md', 'LICENSE'].map((path) => skill.files.find((file) => file.path === path)!.digest)
    digests = { own: own!, shared: shared! }
    for (const skillName of ['rose', 'tulip']) await test.api().track({ skillName })
    await partsOf(test.registry).telemetry.flush()
    before = await look()
    // Cached for anonymous callers from now on.
    for (const name of names) for (let i = 0; i < 2; i++) await test.api().getSkill({ name })
    head = (await test.api().getFeed({ limit: 1 })).head
    removed = await makeCase(test, 'rose', alice, 'removed')
  })

  const names = ['rose', 'alice/rose', 'bob/rose']

  /** What the lists contain of it. */
  async function look() {
    const api = test.api()
    const found = await api.searchSkills({ q: 'zygomorph', includeStubs: true })
    const pack = await api.getPack({ slug: 'flowers' })
    const profile = await api.getUser({ username: 'alice' })
    return {
      found: found.skills.map(({ name }) => name).toSorted(),
      total: found.total,
      all: (await api.searchSkills({ limit: 100 })).skills.map(({ fullName }) => fullName).toSorted(),
      inCategory: (await api.searchSkills({ category: 'Roses' })).total,
      categories: (await api.listCategories()).categories.map(({ name }) => name),
      suggestions: (await api.suggest({ q: 'ros' })).suggestions.toSorted(),
      packed: pack.skills.map(({ name }) => name),
      packedCount: pack.skillCount,
      listed: (await api.listPacks({ q: 'flowers' })).packs[0]!.skills.map(({ name }) => name),
      profile: profile.skills.map(({ name }) => name).toSorted(),
      published: profile.counts.skills,
      trending: (await api.getTrending({ period: 'month' })).entries.map(({ skill }) => skill.name).toSorted(),
      forkedFrom: (await api.getSkill({ name: 'bob/rose-fork' })).forkedFrom,
    }
  }

  describe('answers 451', () => {
    it.each(Object.entries(reads))('to everyone who reads the skill: %s', async (_, read) => {
      for (const name of names) {
        for (const api of [test.api(), bob.api, alice.api, test.admin.api])
          expect(await codeOf(read(api, name)), name).toBe('taken_down')
      }
    })

    it('to a request for a single version, even if the response was cached before the takedown', async () => {
      for (const name of names) {
        expect(await codeOf(test.api().getSkill({ name, version: '1.0.0' }))).toBe('taken_down')
        expect(await codeOf(test.api().getSkillMd({ name, version: '1.0.0' }))).toBe('taken_down')
        expect(await codeOf(test.api().getArchive({ name, version: '1.0.0' }))).toBe('taken_down')
        expect(await codeOf(test.api().getFile({ name, path: 'LICENSE' }))).toBe('taken_down')
        expect(await codeOf(test.api().getFile({ name, path: 'not-there' }))).toBe('taken_down')
        expect(await codeOf(test.api().getVersion({ name, version: '9.9.9' }))).toBe('taken_down')
      }
    })

    it.each(Object.entries(actions))('to everyone who acts on the skill: %s', async (_, act) => {
      for (const api of [bob.api, alice.api]) expect(await codeOf(act(api, 'alice/rose'))).toBe('taken_down')
    })

    it.each(Object.entries(ownerActions))('to actions reserved for owners, even by the owner: %s', async (_, act) => {
      for (const api of [alice.api, bob.api]) expect(await codeOf(act(api, 'alice/rose'))).toBe('taken_down')
    })

    it('to every publish under its full name, and no other skill gets its short name', async () => {
      const text = skillMd('rose', { body: 'Third.' })
      expect(await codeOf(alice.api.publishSkill({ skillMd: text }))).toBe('taken_down')
      expect(await codeOf(alice.api.publishSkill({ skillMd: text, dryRun: true }))).toBe('taken_down')
      expect(await codeOf(alice.api.publishSkill({ name: 'rose', deprecated: true }))).toBe('taken_down')
      expect(await codeOf(alice.api.publishSkill({ name: 'rose', visibility: 'private' }))).toBe('taken_down')
      expect(await codeOf(bob.api.publishSkill({ name: 'alice/rose', skillMd: text }))).toBe('taken_down')
      const carol = await test.makeUser('carol')
      await carol.api.publishSkill({ skillMd: skillMd('rose') })
      expect(await codeOf(test.api().getSkill({ name: 'rose' })), 'the short name stays its own').toBe('taken_down')
      await carol.api.deleteSkill({ name: 'carol/rose' })
    })

    it('to a request for a blob, unless another skill contains the same bytes', async () => {
      expect(await codeOf(test.api().getBlob({ digest: digests.own }))).toBe('taken_down')
      expect((await bytesOf(await test.api().getBlob({ digest: digests.shared }))).toString()).toBe(
        'Everyone has this text.',
      )
      expect(await codeOf(test.api().getBlob({ digest: `sha256:${'0'.repeat(64)}` }))).toBe('not_found')
      const lines = await textOf(await test.api().batchBlobs({ digests: [digests.own, digests.shared] }))
      expect(
        lines
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as object),
      ).toEqual([
        { digest: digests.own, missing: true },
        { digest: digests.shared, size: 23, content: Buffer.from('Everyone has this text.').toString('base64') },
      ])
    })
  })

  it('is in no list, and is not named as the source of a fork', async () => {
    expect(before).toMatchObject({
      found: ['rose', 'rose-fork', 'tulip'],
      packed: ['rose', 'tulip'],
      published: 2,
      trending: ['rose', 'tulip'],
    })
    expect(await look()).toEqual({
      ...before,
      found: ['rose-fork', 'tulip'],
      total: 2,
      all: before.all.filter((name) => name !== 'alice/rose'),
      inCategory: before.inCategory - 1,
      suggestions: ['rose-fork'],
      packed: ['tulip'],
      packedCount: 1,
      listed: ['tulip'],
      profile: ['tulip'],
      published: 1,
      trending: ['tulip'],
      forkedFrom: null,
    })
    for (const api of [alice.api, test.admin.api]) {
      const found = await api.searchSkills({ q: 'zygomorph' })
      expect(found.skills.map(({ name }) => name)).not.toContain('rose')
    }
    expect((await alice.api.getMe()).counts.skills).toBe(1)
    const input = { name: 'With it', description: '', skills: ['rose'] }
    expect(await codeOf(bob.api.createPack(input)), 'no new pack takes it').toBe('invalid_request')
  })

  it('is reported with the reason to agents that installed it, and is recommended to no agent', async () => {
    const installedSkills = [{ skillName: 'rose', version: '1.0.1' }]
    const told = await test.api().heartbeat({ installedSkills, platform: 'claude' })
    expect(told.updates).toMatchObject([{ fullName: 'alice/rose', reason: 'taken_down' }])
    expect(told.recommendations.map(({ skill }) => skill.fullName)).not.toContain('alice/rose')
    const others = await test.api().heartbeat({ installedSkills: [{ skillName: 'tulip', version: '1.0.0' }] })
    expect(others.recommendations.map(({ skill }) => skill.fullName)).not.toContain('alice/rose')
  })

  it('counts no installs', async () => {
    expect(await codeOf(test.api().track({ skillName: 'alice/rose' }))).toBe('taken_down')
  })

  it('has a takedown entry in the feed, without details', async () => {
    const { entries } = await test.api().getFeed({ since: head })
    const takedown = entries.find(({ type }) => type === 'takedown')!
    expect(takedown).toMatchObject({
      subject: 'alice/rose',
      digest: null,
      data: { skill: { name: 'rose', fullName: 'alice/rose' }, owner: { username: 'alice' } },
    })
    expect(Object.keys(takedown.data).toSorted()).toEqual(['owner', 'skill'])
    expect(entries.filter(({ subject, type }) => subject.startsWith('alice/rose') && type !== 'takedown')).toEqual([])
  })

  it('is complete again once it is restored, and its history is in the feed', async () => {
    const { head: since } = await test.api().getFeed({ limit: 1 })
    await alice.api.submitCounterNotice({ id: removed.id, ...counterNotice })
    expect(await codeOf(test.api().getSkill({ name: 'rose' }))).toBe('taken_down')
    await runOut(test, removed.id)
    const { entries } = await test.api().getFeed({ since })
    expect(entries.map(({ type, subject }) => `${type} ${subject}`)).toEqual([
      'version alice/rose@1.0.0',
      'version alice/rose@1.0.1',
      'skill alice/rose',
    ])
    expect(await look()).toEqual(before)
    for (const name of names) {
      for (const read of ['getSkill', 'getSkillMd', 'getArchive', 'getFile', 'listVersions', 'getVersion'] as const)
        expect(await reads[read]!(test.api(), name), read).toBeDefined()
    }
    expect(await textOf(await test.api().getSkillMd({ name: 'rose' }))).toContain('Second.')
    expect(await bytesOf(await test.api().getBlob({ digest: digests.own }))).toBeDefined()
    await alice.api.publishSkill({ skillMd: skillMd('rose', { body: 'Third.' }) })
    expect((await test.api().getSkill({ name: 'rose' })).latestVersion).toBe('1.0.2')
  })
})

describeApi('a takedown', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })
  const publishAs = async (name: string) => {
    await publish(alice, name)
    return alice
  }
  const readHead = async () => (await test.api().getFeed({ limit: 1 })).head

  it('that is only requested, under review or rejected does not change the skill', async () => {
    await publish(alice, 'asked')
    const before = await test.api().getSkill({ name: 'asked' })
    const since = await readHead()
    await makeCase(test, 'asked', alice, 'submitted')
    const { id } = await makeCase(test, 'asked', alice, 'under_review')
    await test.admin.api.updateDmca({ id, status: 'rejected' })
    expect(await test.api().getSkill({ name: 'asked' })).toEqual(before)
    expect((await test.api().searchSkills({ q: 'asked' })).total).toBe(1)
    expect(await readHead()).toBe(since)
  })

  it.each(['removed', 'upheld'] as const)('that is %s stays in force', async (status) => {
    await publish(alice, `kept-${status}`)
    await makeCase(test, `kept-${status}`, alice, status)
    test.clock.advance(60 * 24 * 60 * 60 * 1000)
    await publish(alice, `meanwhile-${status}`)
    expect(await codeOf(test.api().getSkill({ name: `kept-${status}` }))).toBe('taken_down')
  })

  it('stops a fork that began before the takedown', async () => {
    await publish(alice, 'raced')
    const { id } = await makeCase(test, 'raced', alice, 'submitted')
    const since = await readHead()
    const forks = Array.from({ length: 16 }, (_, i) => bob.api.forkSkill({ name: 'raced', newName: `raced-${i}` }))
    await Promise.allSettled([...forks, test.admin.api.updateDmca({ id, status: 'removed' })])
    const { entries } = await test.api().getFeed({ since })
    const removedAt = entries.find(({ type }) => type === 'takedown')!.seq
    expect(entries.filter(({ type, seq }) => type === 'version' && seq > removedAt)).toEqual([])
  })

  it('of a private skill is visible only to users who may see the skill, and adds no entry to the feed', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('diary'), visibility: 'private' })
    await addCollaborator(test, alice, { name: 'diary', username: 'bob', role: 'read' })
    const since = await readHead()
    const { id } = await bob.api.submitDmca({ skillName: 'alice/diary', ...notice })
    await test.admin.api.updateDmca({ id, status: 'removed' })
    for (const api of [alice.api, bob.api])
      expect(await codeOf(api.getSkill({ name: 'alice/diary' }))).toBe('taken_down')
    for (const api of [test.api(), test.admin.api, (await test.makeUser('carol')).api]) {
      for (const [name, read] of Object.entries(reads))
        expect(await codeOf(read(api, 'alice/diary')), name).toBe('not_found')
    }
    expect((await alice.api.searchSkills({ q: 'diary' })).total).toBe(0)
    expect(await readHead()).toBe(since)
    await alice.api.submitCounterNotice({ id, ...counterNotice })
    await runOut(test, id)
    expect((await bob.api.getSkill({ name: 'alice/diary' })).name).toBe('alice/diary')
    expect(await readHead()).toBe(since)
  })

  it('of an external skill without a published version hides its placeholder', async () => {
    const owner = await test.makeUser('elsewhere')
    const { id: ownerId, username } = await owner.api.getMe()
    const stub = { owner: { id: ownerId, username }, name: 'stubbed', description: 'Stub quokka.', repository: '' }
    await createStub(test.registry, stub)
    const find = async () => (await test.api().searchSkills({ q: 'quokka', includeStubs: true })).total
    expect(await find()).toBe(1)
    const since = await readHead()
    await makeCase(test, 'elsewhere/stubbed', owner, 'removed')
    expect(await find()).toBe(0)
    expect(await codeOf(test.api().getSkill({ name: 'elsewhere/stubbed' }))).toBe('taken_down')
    expect(await codeOf(owner.api.publishSkill({ skillMd: skillMd('stubbed') }))).toBe('taken_down')
    expect(await readHead()).toBe(since)
  })

  it('and a moderator’s decision to hide the skill end independently of each other', async () => {
    await publish(alice, 'both')
    await test.admin.api.moderateSkill({ name: 'both', state: 'hidden', reason: 'Spam.' })
    // A user who may still see it may still claim it.
    const { id } = await test.admin.api.submitDmca({ skillName: 'alice/both', ...notice })
    await test.admin.api.updateDmca({ id, status: 'removed' })
    for (const api of [test.api(), alice.api, test.admin.api])
      expect(await codeOf(api.getSkill({ name: 'alice/both' }))).toBe('taken_down')
    await alice.api.submitCounterNotice({ id, ...counterNotice })
    await runOut(test, id)
    expect(await codeOf(test.api().getSkill({ name: 'alice/both' })), 'still hidden').toBe('not_found')
    expect((await alice.api.getSkill({ name: 'both' })).name).toBe('both')

    const second = await makeCase(test, 'tulip-2', await publishAs('tulip-2'), 'removed')
    await test.admin.api.moderateSkill({ name: 'tulip-2', state: 'hidden', reason: 'Spam.' })
    await test.admin.api.moderateSkill({ name: 'tulip-2', state: 'shown', reason: '' })
    expect(await codeOf(test.api().getSkill({ name: 'tulip-2' })), 'no decision lifts a takedown').toBe('taken_down')
    expect((await alice.api.getModeration({ name: 'tulip-2' })).cases).toMatchObject([{ id: second.id }])
  })

  it('of a skill with a pending transfer prevents the transfer', async () => {
    await publish(alice, 'offered')
    await alice.api.transferSkill({ name: 'offered', newOwner: 'bob' })
    const { id } = await makeCase(test, 'offered', alice, 'removed')
    expect(await codeOf(bob.api.acceptTransfer({ name: 'alice/offered' }))).toBe('not_found')
    await alice.api.submitCounterNotice({ id, ...counterNotice })
    await runOut(test, id)
    expect((await bob.api.acceptTransfer({ name: 'alice/offered' })).fullName).toBe('bob/offered')
  })

  it('by another process also hides the skill on a node that has cached the skill', async () => {
    await publish(alice, 'remote')
    await test.api().getSkill({ name: 'remote' })
    const other = await open({ at: test.location, clock: test.clock, works: false })
    await expect(test.api().getSkill({ name: 'remote' })).resolves.toBeDefined()
    const admin = other.apiWithKey(test.admin.key)
    const { id } = await other.api().submitDmca({ skillName: 'remote', ...notice })
    await admin.updateDmca({ id, status: 'removed' })
    const code = () =>
      test
        .api()
        .getSkill({ name: 'remote' })
        .then(
          () => 'read',
          (error: { code: string }) => error.code,
        )
    await expect.poll(code).toBe('taken_down')
    await expect.poll(async () => (await test.api().searchSkills({ q: 'remote' })).total).toBe(0)
  })
})
