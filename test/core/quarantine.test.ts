import { systemCaller } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import { limits } from '@skillstead/protocol'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, refusalOf, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { sampleOf } from '../support/security-samples.ts'
import { hookUp, openSilent } from '../support/webhook-emitted.ts'

const hold = async (user: TestUser, name: string, options: { version?: string; more?: string } = {}) =>
  (await user.api.publishSkill({ skillMd: sampleOf('dangerous', name, options) })).quarantined!
const quarantineOf = async ({ api }: TestUser) =>
  (await api.listQuarantined({ limit: 100 })).quarantined.map(({ id }) => id)

describeApi('versions that are quarantined', (open) => {
  let test: TestRegistry
  let users = 0
  let alice: TestUser
  beforeAll(async () => {
    test = await open({ scanPolicy: { caution: 'warn', dangerous: 'quarantine' } })
  })
  beforeEach(async () => {
    alice = await test.makeUser(`alice-${++users}`)
  })

  const rowsOf = (table: 'log' | 'versions' | 'blobs' | 'outbox' | 'changes') =>
    partsOf(test.registry)
      .database.read.selectFrom(table)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()

  describe('are not published', () => {
    it('and the response has status 202 and describes the quarantined version', async () => {
      const input = { skillMd: sampleOf('dangerous', 'kept') }
      expect(await test.statusOf(alice, 'publishSkill', input)).toBe(202)
      const answer = await alice.api.publishSkill(input)
      const fullName = `${alice.username}/kept`
      expect(answer).toMatchObject({ created: false, skill: { fullName }, version: { version: '1.0.0' } })
      const { security, digest } = answer.version
      expect(answer.quarantined).toMatchObject({ fullName, version: '1.0.0', digest, security })
      expect(answer.quarantined).toMatchObject({
        publisher: { username: alice.username },
        createdAt: '2026-01-02T12:00:00.000Z',
      })
      expect(answer.warnings.some(({ code }) => code === 'scan')).toBe(true)
    })

    it('and are in no list, log, feed, search, blob or webhook', async () => {
      const tables = ['log', 'versions', 'blobs', 'outbox', 'changes'] as const
      const before = await Promise.all(tables.map(rowsOf))
      const quarantined = await hold(alice, 'absent')
      expect(await Promise.all(tables.map(rowsOf))).toEqual(before)
      const { files } = await alice.api.getQuarantined({ id: quarantined.id })
      for (const api of [test.api(), alice.api, test.admin.api]) {
        expect(await codeOf(api.getSkill({ name: quarantined.fullName }))).toBe('not_found')
        expect(await codeOf(api.getSkill({ name: 'absent' }))).toBe('not_found')
        expect(await codeOf(api.getSkillMd({ name: quarantined.fullName }))).toBe('not_found')
        expect(await codeOf(api.listVersions({ name: quarantined.fullName }))).toBe('not_found')
        expect((await api.searchSkills({ q: 'absent' })).skills).toEqual([])
        expect(await codeOf(api.getBlob({ digest: files[0]!.digest }))).toBe('not_found')
      }
      expect(JSON.stringify(await test.api().getFeed({ limit: 1000 }))).not.toContain(quarantined.fullName)
    })

    it('while earlier versions are unchanged', async () => {
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'grown'), category: 'Old' })
      const before = await test.api().getSkill({ name: `${alice.username}/grown` })
      const { quarantined, version } = await alice.api.publishSkill({
        skillMd: sampleOf('dangerous', 'grown'),
        category: 'New',
      })
      expect(quarantined!.version).toBe('1.0.1')
      expect(version.version).toBe('1.0.1')
      expect(await test.api().getSkill({ name: `${alice.username}/grown` })).toEqual(before)
      const { versions } = await alice.api.listVersions({ name: `${alice.username}/grown` })
      expect(versions.map(({ version: number }) => number)).toEqual(['1.0.0'])
    })

    it('and a second publish of the same content leaves only one quarantined version', async () => {
      const first = await hold(alice, 'twice')
      test.clock.advance(1000)
      const second = await hold(alice, 'twice')
      expect(second).toEqual({ ...first, security: second.security })
      // A release names the id: it does not count for settings that were not read.
      const { quarantined } = await alice.api.publishSkill({
        skillMd: sampleOf('dangerous', 'twice'),
        version: '2.0.0',
        category: 'Mine',
      })
      expect(quarantined!.version).toBe('2.0.0')
      expect(await codeOf(test.admin.api.releaseQuarantined({ id: first.id }))).toBe('not_found')
      expect(await quarantineOf(alice)).toEqual([quarantined!.id])
      await test.admin.api.releaseQuarantined({ id: quarantined!.id })
      const skill = await test.api().getSkill({ name: first.fullName })
      expect(skill).toMatchObject({ latestVersion: '2.0.0', category: 'Mine' })
    })

    it('unlike versions with a verdict that the scan policy accepts', async () => {
      expect((await alice.api.publishSkill({ skillMd: sampleOf('caution', 'so-so') })).created).toBe(true)
    })

    it('and a dry run reports that they would be quarantined, and stores nothing', async () => {
      const skillMd = sampleOf('dangerous', 'dry')
      const answer = await alice.api.publishSkill({ skillMd, dryRun: true })
      expect(answer).toMatchObject({ created: false, version: { version: '1.0.0' } })
      expect(answer.quarantined).toBe(undefined)
      expect(answer.warnings.at(-1)!.code).toBe('quarantined')
      expect(await quarantineOf(alice)).toEqual([])
    })

    it('and a fork whose version would be quarantined is refused', async () => {
      const { id, fullName } = await hold(alice, 'source')
      await test.admin.api.releaseQuarantined({ id })
      const bob = await test.makeUser()
      const refusal = await refusalOf(bob.api.forkSkill({ name: fullName }))
      expect(refusal.code).toBe('conflict')
      expect(await quarantineOf(bob)).toEqual([])
      expect(await codeOf(bob.api.getSkill({ name: `${bob.username}/source` }))).toBe('not_found')
    })

    it(`and a user can have at most ${limits.quarantinedPerUserMax} quarantined versions`, async () => {
      for (let i = 0; i < limits.quarantinedPerUserMax; i++) await hold(alice, `much-${i}`)
      const refusal = await refusalOf(hold(alice, 'too-much'))
      expect(refusal.code).toBe('conflict')
      // The same content again takes no more space.
      await hold(alice, 'much-0')
      await alice.api.deleteQuarantined({ id: (await quarantineOf(alice))[0]! })
      await hold(alice, 'too-much')
    })
  })

  describe('are visible', () => {
    it('only to their owner and administrators', async () => {
      const { id, fullName } = await hold(alice, 'seen')
      const bob = await test.makeUser()
      for (const user of [alice, test.admin]) {
        expect(await quarantineOf(user)).toContain(id)
        const shown = await user.api.getQuarantined({ id })
        expect(shown).toMatchObject({ id, fullName, security: { verdict: 'dangerous' }, files: [{ path: 'SKILL.md' }] })
        const content = await user.api.getQuarantinedFile({ id, path: 'SKILL.md' })
        expect(await textOf(content)).toBe(sampleOf('dangerous', 'seen'))
      }
      expect(await quarantineOf(bob)).toEqual([])
      expect(await codeOf(bob.api.getQuarantined({ id }))).toBe('not_found')
      expect(await codeOf(bob.api.getQuarantinedFile({ id, path: 'SKILL.md' }))).toBe('not_found')
      expect(await codeOf(bob.api.deleteQuarantined({ id }))).toBe('not_found')
      for (const call of [
        test.api().listQuarantined(),
        test.api().getQuarantined({ id }),
        test.api().deleteQuarantined({ id }),
      ])
        expect(await codeOf(call)).toBe('unauthorized')
      expect(await codeOf(alice.api.releaseQuarantined({ id }))).toBe('forbidden')
      expect(await codeOf(alice.api.getQuarantinedFile({ id, path: 'other' }))).toBe('not_found')
    })

    it('not to collaborators with write access, not even to their publisher', async () => {
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'shared') })
      const bob = await test.makeUser()
      const name = `${alice.username}/shared`
      await addCollaborator(test, alice, { name, username: bob.username, role: 'write' })
      const { quarantined } = await bob.api.publishSkill({ name, skillMd: sampleOf('dangerous', 'shared') })
      expect(quarantined).toMatchObject({ fullName: name, publisher: { username: bob.username } })
      expect(await quarantineOf(bob)).toEqual([])
      expect(await quarantineOf(alice)).toEqual([quarantined!.id])
      expect(await codeOf(bob.api.getQuarantined({ id: quarantined!.id }))).toBe('not_found')
    })

    it('to an administrator, either all or only those of the administrator’s own skills', async () => {
      const { id } = await hold(test.admin, 'a-1')
      const other = await hold(alice, 'a-2')
      const listed = async (own: boolean) =>
        (await test.admin.api.listQuarantined({ own, limit: 100 })).quarantined.map((one) => one.id)
      expect(await listed(false)).toEqual(expect.arrayContaining([id, other.id]))
      expect(await listed(true)).toEqual([id])
      await test.admin.api.deleteQuarantined({ id })
      expect(await listed(true)).toEqual([])
      expect((await alice.api.listQuarantined({ own: true, limit: 100 })).quarantined.map((one) => one.id)).toEqual(
        await quarantineOf(alice),
      )
    })

    it('oldest first, a page at a time', async () => {
      const ids = []
      for (const name of ['p-1', 'p-2', 'p-3']) ids.push((await hold(alice, name)).id)
      const first = await alice.api.listQuarantined({ limit: 2 })
      expect(first).toMatchObject({ total: 3, page: 1, totalPages: 2 })
      const second = await alice.api.listQuarantined({ limit: 2, page: 2 })
      expect([...first.quarantined, ...second.quarantined].map(({ id }) => id)).toEqual(ids)
    })
  })

  describe('are released', () => {
    it('by administrators, with the files, category and changelog that the publisher sent', async () => {
      const files = [{ path: 'notes/more.txt', content: 'More.\n'.repeat(200) }]
      const { quarantined } = await alice.api.publishSkill({
        skillMd: sampleOf('dangerous', 'freed'),
        files,
        changelog: 'Begun.',
        category: 'Tools',
      })
      test.clock.advance(5000)
      const { id, fullName } = quarantined!
      expect(await test.statusOf(test.admin, 'releaseQuarantined', { id })).toBe(201)
      const skill = await test.api().getSkill({ name: fullName })
      expect(skill).toMatchObject({ category: 'Tools', security: { verdict: 'dangerous' }, latestVersion: '1.0.0' })
      expect(skill.publishedAt).toBe(new Date(test.clock.now()).toISOString())
      const { publisher, changelog } = await test.api().getVersion({ name: fullName, version: '1.0.0' })
      expect({ publisher: publisher.username, changelog }).toEqual({ publisher: alice.username, changelog: 'Begun.' })
      const content = await test.api().getFile({ name: fullName, path: 'notes/more.txt' })
      expect(await textOf(content)).toBe(files[0]!.content)
      expect(skill.digest).toBe(quarantined!.digest)
      expect(await quarantineOf(alice)).toEqual([])
      expect(await codeOf(test.admin.api.releaseQuarantined({ id }))).toBe('not_found')
      const { entries } = await test.admin.api.listAudit({ limit: 100 })
      expect(entries.filter(({ subject }) => subject === `${fullName}@1.0.0`).map(({ action }) => action)).toEqual(
        expect.arrayContaining(['quarantine.release', 'skill.publish', 'quarantine.add']),
      )
      // The same content again is no new version, and is not quarantined.
      const again = await alice.api.publishSkill({ skillMd: sampleOf('dangerous', 'freed'), files })
      expect(again).toMatchObject({ created: false, version: { version: '1.0.0' } })
      expect(again.quarantined).toBe(undefined)
    })

    it('under the next number if other versions were published meanwhile', async () => {
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'late') })
      const { id, version } = await hold(alice, 'late')
      expect(version).toBe('1.0.1')
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'late', { more: 'Newer.\n' }) })
      expect((await test.admin.api.releaseQuarantined({ id })).version.version).toBe('1.0.2')
    })

    it('not if their number was taken meanwhile, and stay in quarantine', async () => {
      const { id } = await hold(alice, 'taken', { version: '1.0.0' })
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'taken', { version: '1.0.0' }) })
      expect(await codeOf(test.admin.api.releaseQuarantined({ id }))).toBe('version_exists')
      expect(await quarantineOf(alice)).toEqual([id])
    })

    it('not if the skill was deleted', async () => {
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'gone') })
      const { id, fullName } = await hold(alice, 'gone')
      await alice.api.deleteSkill({ name: fullName })
      expect(await codeOf(test.admin.api.releaseQuarantined({ id }))).toBe('name_taken')
    })

    it('not if their publisher lost write access', async () => {
      await alice.api.publishSkill({ skillMd: sampleOf('safe', 'closed') })
      const bob = await test.makeUser()
      const name = `${alice.username}/closed`
      await addCollaborator(test, alice, { name, username: bob.username, role: 'write' })
      const { quarantined } = await bob.api.publishSkill({ name, skillMd: sampleOf('dangerous', 'closed') })
      await alice.api.deleteCollaborator({ name, username: bob.username })
      expect(await codeOf(test.admin.api.releaseQuarantined({ id: quarantined!.id }))).toBe('forbidden')
    })

    it('as private if requested', async () => {
      const { quarantined } = await alice.api.publishSkill({
        skillMd: sampleOf('dangerous', 'own'),
        visibility: 'private',
      })
      await test.admin.api.releaseQuarantined({ id: quarantined!.id })
      expect(await codeOf(test.api().getSkill({ name: quarantined!.fullName }))).toBe('not_found')
      expect((await alice.api.getSkill({ name: quarantined!.fullName })).visibility).toBe('private')
    })

    it('as an action of the agent that published them', async () => {
      const agentKey = `claude-code:quarantined-${users}`
      const agent = { agentKey, displayName: 'Agent', platformId: 'claude-code' }
      const { agentToken } = await test.api().registerAgent(agent)
      const api = test.apiWith({ agentToken: agentToken! }, alice)
      const { quarantined } = await api.publishSkill({ skillMd: sampleOf('dangerous', 'by-agent') })
      const published = async () => (await test.api().getAgent({ agentKey })).publishedCount
      expect(await published()).toBe(0)
      await test.admin.api.releaseQuarantined({ id: quarantined!.id })
      expect(await published()).toBe(1)
    })
  })

  describe('are removed', () => {
    it('by their owner, who withdraws them', async () => {
      const { id, fullName } = await hold(alice, 'withdrawn')
      expect(await test.statusOf(alice, 'deleteQuarantined', { id })).toBe(204)
      expect(await quarantineOf(alice)).toEqual([])
      expect(await codeOf(test.admin.api.releaseQuarantined({ id }))).toBe('not_found')
      const { entries } = await test.admin.api.listAudit({ limit: 100 })
      expect(entries.find(({ action }) => action === 'quarantine.withdraw')!.subject).toBe(`${fullName}@1.0.0`)
      const rows = await partsOf(test.registry)
        .database.read.selectFrom('quarantine_files')
        .select('path')
        .where('quarantine_id', '=', id)
        .execute()
      expect(rows).toEqual([])
    })

    it('by an administrator, who refuses them with a note', async () => {
      const { id } = await hold(alice, 'refused')
      await test.admin.api.deleteQuarantined({ id, note: 'It is a shell for strangers.' })
      expect(await codeOf(alice.api.getQuarantined({ id }))).toBe('not_found')
      const { entries } = await test.admin.api.listAudit({ limit: 100 })
      const entry = entries.find(({ action, data }) => action === 'quarantine.refuse' && data.id === id)!
      expect(entry).toMatchObject({ actor: 'root', data: { note: 'It is a shell for strangers.' } })
    })
  })

  it('are sent to webhooks once they are released', async () => {
    const silent = await openSilent(open, { scanPolicy: { dangerous: 'quarantine' } })
    const author = await silent.makeUser('author', { plan: 'pro' })
    const hook = await hookUp(silent, author)
    const { id, security } = await hold(author, 'told')
    expect(await hook.take()).toEqual([])
    await silent.admin.api.releaseQuarantined({ id })
    const securityScore = security.score
    expect(await hook.take()).toMatchObject([
      { event: 'skill.published', data: { skill: { name: 'told', securityScore }, publisher: { username: 'author' } } },
    ])
  })

  it('can come from imports, each version of a history separately', async () => {
    const owner = `imported-${users}`
    const items = [
      { owner, name: 'past', skillMd: sampleOf('safe', 'past') },
      { owner, name: 'past', skillMd: sampleOf('dangerous', 'past') },
      { owner, name: 'past', skillMd: sampleOf('safe', 'past', { more: 'Fixed.\n' }) },
    ]
    const outcomes = await importVersions(partsOf(test.registry), items, systemCaller)
    const shown = outcomes.map((outcome) =>
      outcome.error ? outcome.error.code : [outcome.version, outcome.created, outcome.quarantineId !== undefined],
    )
    expect(shown).toEqual([
      ['1.0.0', true, false],
      ['1.0.1', false, true],
      ['1.0.1', true, false],
    ])
    const { quarantined } = await test.admin.api.listQuarantined({ limit: 100 })
    expect(quarantined.at(-1)).toMatchObject({ fullName: `${owner}/past`, publisher: { username: owner } })
    // Again: the same result, and no second quarantined version.
    const again = await importVersions(partsOf(test.registry), items, systemCaller)
    expect(again.map((outcome) => !outcome.error && outcome.created)).toEqual([false, false, false])
    expect((await test.admin.api.listQuarantined({ limit: 100 })).total).toBe(quarantined.length)
    // An author without any published skill.
    const alone = { owner: `alone-${users}`, name: 'only', skillMd: sampleOf('dangerous', 'only') }
    const [outcome] = await importVersions(partsOf(test.registry), [alone], systemCaller)
    expect(outcome).toMatchObject({ created: false, fullName: `alone-${users}/only` })
    expect(await codeOf(test.api().getSkill({ name: `alone-${users}/only` }))).toBe('not_found')
    // After its release it is still an import.
    if (outcome!.error) throw outcome!.error
    await test.admin.api.releaseQuarantined({ id: outcome!.quarantineId! })
    const { origin } = await test.api().getSkill({ name: `alone-${users}/only` })
    expect(origin.kind).toBe('import')
  })

  it('are not released with the content of a recalled version under another number', async () => {
    const name = `${alice.username}/recalled`
    const skillMd = sampleOf('dangerous', 'recalled')
    const publish = async (version: string) => (await alice.api.publishSkill({ skillMd, version })).quarantined!.id
    await test.admin.api.releaseQuarantined({ id: await publish('1.0.0') })
    const second = await publish('2.0.0')
    const { id } = await alice.api.recallSkill({ name, range: '1.0.0', reason: 'It harms.' })
    expect(await codeOf(test.admin.api.releaseQuarantined({ id: second }))).toBe('conflict')
    await alice.api.endRecall({ name, id })
    await test.admin.api.releaseQuarantined({ id: second })
    expect((await alice.api.getSkill({ name })).latestVersion).toBe('2.0.0')
  })

  it('can be read and decided by administrators only with the scope `manage`', async () => {
    const quarantined = await hold(alice, 'scoped')
    const keyOf = async (user: TestUser, ...scopes: ('read' | 'publish' | 'manage')[]) =>
      test.apiWithKey((await user.api.createApiKey({ name: scopes.join(), scopes })).key)
    const reader = await keyOf(test.admin, 'read', 'publish')
    expect((await reader.listQuarantined({ limit: 100 })).quarantined).toEqual([])
    expect(await codeOf(reader.getQuarantined({ id: quarantined.id }))).toBe('forbidden')
    expect(await codeOf(reader.getQuarantinedFile({ id: quarantined.id, path: 'SKILL.md' }))).toBe('forbidden')
    expect(await codeOf(reader.deleteQuarantined({ id: quarantined.id }))).toBe('forbidden')
    expect(await codeOf(reader.releaseQuarantined({ id: quarantined.id }))).toBe('forbidden')
    const author = await keyOf(alice, 'read')
    expect((await author.getQuarantined({ id: quarantined.id })).id).toBe(quarantined.id)
    expect(await codeOf(author.deleteQuarantined({ id: quarantined.id }))).toBe('forbidden')
    const manager = await keyOf(test.admin, 'read', 'manage')
    expect((await manager.listQuarantined({ limit: 100 })).quarantined.map(({ id }) => id)).toContain(quarantined.id)
    expect((await manager.getQuarantined({ id: quarantined.id })).id).toBe(quarantined.id)
    await manager.deleteQuarantined({ id: quarantined.id, note: 'No.' })
    const own = await hold(alice, 'scoped')
    await (await keyOf(alice, 'publish')).deleteQuarantined({ id: own.id })
    expect(await quarantineOf(alice)).toEqual([])
  })

  it('are not created by an import if the scan policy is `refuse`: the version is refused', async () => {
    const strict = await open({ scanPolicy: { dangerous: 'refuse' } })
    const item = { owner: 'author', name: 'bad', skillMd: sampleOf('dangerous', 'bad') }
    const [outcome] = await importVersions(partsOf(strict.registry), [item], systemCaller)
    expect(outcome!.error?.code).toBe('invalid_skill')
  })
})
