import { systemCaller } from '@skillstead/core'
import { importVersions, partsOf } from '@skillstead/core/internal'
import type { RegistryApi } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, codeOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { addCollaborator, makeOrganisation } from '../support/collaboration.ts'
import { makeAgent } from '../support/reputation-acts.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

const reason = 'It deletes the home folder.'

describeApi('recalls', (open, { transport }) => {
  let test: TestRegistry
  let owner: TestUser
  let other: TestUser
  let count = 0
  beforeAll(async () => {
    test = await open()
    owner = await test.makeUser()
    other = await test.makeUser()
  })

  const publish = (name: string, version: string, options: Partial<Parameters<RegistryApi['publishSkill']>[0]> = {}) =>
    owner.api.publishSkill({ name, skillMd: skillMd(name, { version, body: `Version ${version}.` }), ...options })

  /** A new skill with these versions. */
  async function make(versions = ['1.0.0', '1.1.0', '2.0.0'], options = {}): Promise<string> {
    const name = `tool-${++count}`
    for (const version of versions) await publish(name, version, options)
    return `${owner.username}/${name}`
  }

  const recall = (name: string, range: string) => owner.api.recallSkill({ name, range, reason })
  const heartbeat = async (skillName: string, version: string) =>
    (await test.api().heartbeat({ installedSkills: [{ skillName, version }] })).updates[0]
  const feedOf = async (name: string) => {
    const { entries } = await test.api().getFeed({ limit: 1000 })
    return entries.filter(({ subject }) => subject.split('@')[0] === name)
  }

  describe('of versions', () => {
    it('change the latest version, and show the recall in details and lists', async () => {
      const name = await make()
      const made = await recall(name, '>=1.1.0')
      expect(made).toMatchObject({
        range: '>=1.1.0',
        reason,
        versions: ['2.0.0', '1.1.0'],
        versionCount: 2,
        upstream: false,
      })
      const recalled = { range: '>=1.1.0', reason, at: made.at }
      const details = await test.api().getSkill({ name })
      expect(details).toMatchObject({ latestVersion: '1.0.0' })
      expect(details.recalled).toBeUndefined()
      expect(details.versions.map((one) => one.recalled)).toEqual([recalled, recalled, undefined])
      const { versions } = await test.api().listVersions({ name })
      expect(versions.map((one) => one.recalled)).toEqual([recalled, recalled, undefined])
      expect(await test.api().getVersion({ name, version: '2.0.0' })).toMatchObject({ recalled, yanked: false })
      expect(await test.api().getSkill({ name, version: '2.0.0' })).toMatchObject({ recalled })
      expect(await test.api().listRecalls({ name })).toEqual({ recalls: [made] })
    })

    it('refuse downloads of the content, unless a request for the exact version allows recalled content', async () => {
      const name = await make()
      await recall(name, '2.x')
      const api = test.api()
      const version = '2.0.0'
      const reads = {
        archive: (more: object) => api.getArchive({ name, version, ...more }),
        skillMd: (more: object) => api.getSkillMd({ name, version, ...more }),
        file: (more: object) => api.getFile({ name, version, path: 'SKILL.md', ...more }),
        load: (more: object) => api.loadSkill({ name, version, ...more }),
        summary: (more: object) => api.loadSkill({ name, version, level: 'metadata', ...more }),
      }
      for (const [what, read] of Object.entries(reads)) {
        const refusal = await refusalOf(read({}))
        expect([what, refusal.code, refusal.status]).toEqual([what, 'recalled', 410])
        expect(refusal.message).toContain(reason)
        // Agents read it over MCP, and shall not learn how to go on.
        expect(refusal.message).not.toContain('allowRecalled')
        await read({ allowRecalled: true })
      }
      expect(await textOf(await api.getSkillMd({ name, version, allowRecalled: true }))).toContain('Version 2.0.0.')
      // The latest version is another one.
      expect(await textOf(await api.getSkillMd({ name, allowRecalled: true }))).toContain('Version 1.1.0.')
    })

    it('leave details, file lists, scans and proofs readable', async () => {
      const name = await make()
      await recall(name, '2.0.0')
      const api = test.api()
      expect((await api.getVersion({ name, version: '2.0.0' })).files).toHaveLength(1)
      expect((await api.getSkill({ name, version: '2.0.0' })).security).not.toBeNull()
      for (const [from, to] of [
        ['1.1.0', '2.0.0'],
        ['2.0.0', '1.1.0'],
      ] as const) {
        expect(await codeOf(api.diffSkill({ name, from, to }))).toBe('recalled')
        expect((await api.diffSkill({ name, from, to, allowRecalled: true })).files).toHaveLength(1)
      }
      expect((await api.getProvenance({ name, version: '2.0.0' })).version).toBe('2.0.0')
    })

    it('refuse downloads of the content even if the details of the recall are missing', async () => {
      const name = await make()
      const { id } = await recall(name, '2.x')
      // As for a request that read the skill before the recall, and the version after it.
      await partsOf(test.registry).database.writer.write(async (trx) => {
        await trx.updateTable('skills').set({ recalls: '[]' }).where('full_name', '=', name).execute()
      })
      const refusal = await refusalOf(test.api().getArchive({ name, version: '2.0.0' }))
      expect([refusal.code, refusal.message.includes(id)]).toEqual(['recalled', false])
      await test.api().getArchive({ name, version: '2.0.0', allowRecalled: true })
    })

    it('that cover all versions of a skill leave the skill without a latest version, and in no list', async () => {
      const name = await make()
      await recall(name, '*')
      const details = await test.api().getSkill({ name })
      expect(details).toMatchObject({ latestVersion: '', files: [] })
      expect(details.versions.every((one) => one.recalled !== undefined)).toBe(true)
      expect(await codeOf(test.api().getSkillMd({ name }))).toBe('not_found')
      const { skills } = await test.api().searchSkills({ owner: owner.username, limit: 100 })
      expect(skills.map(({ fullName }) => fullName)).not.toContain(name)
      expect(await codeOf(test.api(other.username).forkSkill({ name }))).toBe('not_found')
    })

    it('do not undo a yank when they end', async () => {
      const name = await make()
      await owner.api.yankVersion({ name, version: '2.0.0' })
      const { id } = await recall(name, '>=1.1.0')
      expect((await test.api().getSkill({ name })).latestVersion).toBe('1.0.0')
      await owner.api.endRecall({ name, id })
      expect((await test.api().getSkill({ name })).latestVersion).toBe('1.1.0')
      await owner.api.unyankVersion({ name, version: '2.0.0' })
      expect((await test.api().getSkill({ name })).latestVersion).toBe('2.0.0')
    })
  })

  describe('that end', () => {
    it('restore the versions and stay in the list, and ending a recall again changes nothing', async () => {
      const name = await make()
      const { id } = await recall(name, '>=1.1.0')
      const { stillRecalled, ...ended } = await owner.api.endRecall({ name, id })
      expect(stillRecalled).toEqual([])
      expect(ended).toMatchObject({ id, range: '>=1.1.0', reason })
      expect(ended.endedAt).toBeDefined()
      expect(await test.api().getSkill({ name })).toMatchObject({ latestVersion: '2.0.0' })
      expect((await test.api().getSkill({ name })).versions.some((one) => one.recalled)).toBe(false)
      await test.api().getArchive({ name, version: '2.0.0' })
      test.clock.advance(60_000)
      expect(await owner.api.endRecall({ name, id })).toMatchObject(ended)
      expect(await test.api().listRecalls({ name })).toEqual({ recalls: [ended] })
      const types = (await feedOf(name)).map(({ type, data }) => [type, data['ended']])
      expect(types.filter(([type]) => type === 'recall')).toEqual([
        ['recall', false],
        ['recall', true],
      ])
    })

    it('leave a version recalled that another active recall covers', async () => {
      const name = await make()
      const first = await recall(name, '2.x')
      test.clock.advance(1000)
      const second = await owner.api.recallSkill({ name, range: '>=1.1.0', reason: 'Another fault.' })
      const shown = async () => (await test.api().getSkill({ name })).versions.map((one) => one.recalled?.range)
      expect(await shown()).toEqual(['>=1.1.0', '>=1.1.0', undefined])
      expect(await owner.api.endRecall({ name, id: second.id })).toMatchObject({
        versions: ['2.0.0', '1.1.0'],
        stillRecalled: ['2.0.0'],
      })
      expect(await shown()).toEqual(['2.x', undefined, undefined])
      await owner.api.endRecall({ name, id: first.id })
      expect(await shown()).toEqual([undefined, undefined, undefined])
    })

    it('must be named by the correct id and the correct skill', async () => {
      const [name, another] = [await make(), await make()]
      const { id } = await recall(name, '2.x')
      for (const wrong of ['x', '', '00000000-0000-7000-8000-000000000000'].slice(transport === 'HTTP' ? 2 : 0))
        expect(await codeOf(owner.api.endRecall({ name, id: wrong }))).toBe('not_found')
      expect(await codeOf(owner.api.endRecall({ name: another, id }))).toBe('not_found')
    })
  })

  describe('of later versions', () => {
    it('cover a version that is published later in the range, and the publish returns a warning', async () => {
      const name = await make(['1.0.0'])
      expect(await recall(name, '>=2.0.0')).toMatchObject({ versions: [], versionCount: 0 })
      const { warnings, skill, version } = await publish(name.split('/')[1]!, '2.0.0')
      expect(warnings).toMatchObject([{ code: 'recalled' }])
      expect(warnings[0]!.message).toContain('>=2.0.0')
      expect(version.recalled).toMatchObject({ reason })
      expect(skill.latestVersion).toBe('1.0.0')
      expect(await codeOf(test.api().getArchive({ name, version: '2.0.0' }))).toBe('recalled')
      const preview = await publish(name.split('/')[1]!, '2.1.0', { dryRun: true })
      expect(preview.warnings.map(({ code }) => code)).toContain('recalled')
      expect((await publish(name.split('/')[1]!, '1.1.0')).warnings).toEqual([])
    })

    it('refuse the content of a recalled version under another number', async () => {
      const short = `tool-${++count}`
      const name = `${owner.username}/${short}`
      const text = skillMd(short)
      for (const [version, md] of [
        ['1.0.0', skillMd(short, { body: 'First.' })],
        ['2.0.0', text],
      ] as const)
        await owner.api.publishSkill({ skillMd: md, version })
      const { id } = await recall(name, '2.0.0')
      for (const version of ['2.0.1', undefined])
        expect(await codeOf(owner.api.publishSkill({ skillMd: text, version }))).toBe('conflict')
      // Under its own number it changes nothing, as before.
      expect(await owner.api.publishSkill({ skillMd: text, version: '2.0.0' })).toMatchObject({ created: false })
      await owner.api.endRecall({ name, id })
      expect(await owner.api.publishSkill({ skillMd: text, version: '2.0.1' })).toMatchObject({ created: true })
    })
  })

  describe('in imports', () => {
    it('refuse the content of a recalled version under another version number', async () => {
      const name = await make(['1.0.0'])
      const short = name.split('/')[1]!
      await recall(name, '1.0.0')
      const { files } = await test.api().getVersion({ name, version: '1.0.0' })
      expect(files).toHaveLength(1)
      const skillMdText = skillMd(short, { version: '1.0.0', body: 'Version 1.0.0.' })
      const item = { owner: owner.username, name: short, skillMd: skillMdText, publishedAt: test.clock.now() + 1000 }
      const outcomes = await importVersions(partsOf(test.registry), [{ ...item, version: '1.0.1' }], systemCaller)
      expect(outcomes.map(({ error }) => error?.code)).toEqual(['conflict'])
      expect((await test.api().getSkill({ name })).versions).toHaveLength(1)
    })
  })

  describe('by users and administrators', () => {
    it('require the right to manage the skill, or the role of an administrator', async () => {
      const name = await make()
      const writer = await test.makeUser()
      await addCollaborator(test, owner, { name, username: writer.username, role: 'write' })
      const input = { name, range: '*', reason }
      expect(await codeOf(test.api().recallSkill(input))).toBe('unauthorized')
      for (const api of [other.api, writer.api]) expect(await codeOf(api.recallSkill(input))).toBe('forbidden')
      expect((await test.api().getSkill({ name })).latestVersion).toBe('2.0.0')
      const { id } = await test.admin.api.recallSkill(input)
      for (const api of [other.api, writer.api]) expect(await codeOf(api.endRecall({ name, id }))).toBe('forbidden')
      expect((await test.api().getSkill({ name })).latestVersion).toBe('')
    })

    it('can be ended only by an administrator if an administrator made them', async () => {
      const name = await make()
      const { id, byAdministrator } = await test.admin.api.recallSkill({ name, range: '*', reason })
      expect(byAdministrator).toBe(true)
      const refusal = await refusalOf(owner.api.endRecall({ name, id }))
      expect([refusal.code, refusal.message.includes('administrator')]).toEqual(['forbidden', true])
      expect(await codeOf(test.api().getArchive({ name, version: '2.0.0' }))).toBe('recalled')
      // The same recall of the owner is another one, and its end does not touch that of the administrator.
      const own = await recall(name, '*')
      expect(own.id).not.toBe(id)
      expect(await owner.api.endRecall({ name, id: own.id })).toMatchObject({ stillRecalled: own.versions })
      const entry = (await feedOf(name)).find(({ type }) => type === 'recall')
      expect(entry!.data).toMatchObject({ recall: { id, byAdministrator: true } })
      await test.admin.api.endRecall({ name, id })
      await test.api().getArchive({ name, version: '2.0.0' })
    })

    it('are made and listed by administrators even for a private skill, but not listed to other users', async () => {
      const name = await make(['1.0.0'], { visibility: 'private' })
      const made = await test.admin.api.recallSkill({ name, range: '*', reason })
      expect(await test.admin.api.listRecalls({ name })).toMatchObject({ recalls: [made], known: {} })
      expect((await owner.api.listRecalls({ name })).recalls).toEqual([made])
      for (const api of [other.api, test.api()]) expect(await codeOf(api.listRecalls({ name }))).toBe('not_found')
      await test.admin.api.endRecall({ name, id: made.id })
    })

    it('are possible for administrators of an organisation, not for its publishers', async () => {
      for (const name of ['rec-own', 'rec-adm', 'rec-pub']) await test.makeUser(name)
      const roles = { 'rec-own': 'owner', 'rec-adm': 'admin', 'rec-pub': 'publisher' } as const
      await makeOrganisation(test, 'rec-team', roles)
      await test.api('rec-own').publishSkill({ name: 'rec-team/tool', skillMd: skillMd('tool', { version: '1.0.0' }) })
      const input = { name: 'rec-team/tool', range: '1.0.0', reason }
      expect(await codeOf(test.api('rec-pub').recallSkill(input))).toBe('forbidden')
      for (const user of ['rec-own', 'rec-adm'])
        expect(await test.api(user).recallSkill(input)).toMatchObject({ versions: ['1.0.0'] })
    })

    it('need a key with the scope manage that is not limited to publishing', async () => {
      const name = await make()
      const input = { name, range: '*', reason }
      for (const options of [{}, { limitedTo: name }]) {
        const { key } = await owner.api.createApiKey({ name: 'narrow', scopes: ['read', 'publish'], ...options })
        expect(await codeOf(test.apiWithKey(key).recallSkill(input))).toBe('forbidden')
      }
    })

    it('keep a private skill unknown to others, and write no public entry', async () => {
      const name = await make(['1.0.0', '1.1.0'], { visibility: 'private' })
      expect(await codeOf(other.api.recallSkill({ name, range: '*', reason }))).toBe('not_found')
      expect(await codeOf(other.api.listRecalls({ name }))).toBe('not_found')
      await recall(name, '1.1.0')
      expect(await codeOf(owner.api.getArchive({ name, version: '1.1.0' }))).toBe('recalled')
      expect(await feedOf(name)).toEqual([])
      // Once it is public, the log has its active recalls after its versions.
      const ended = await recall(name, '1.0.0')
      await owner.api.endRecall({ name, id: ended.id })
      await owner.api.publishSkill({ name: name.split('/')[1]!, visibility: 'public' })
      const entries = await feedOf(name)
      expect(entries.map(({ type }) => type)).toEqual(['version', 'version', 'recall', 'skill'])
      expect(entries[2]!.data).toMatchObject({
        recall: { range: '1.1.0', reason },
        ended: false,
        latestVersion: '1.0.0',
      })
    })
  })

  describe('with bad input', () => {
    it.each([
      ['an empty range', ''],
      ['spaces', '   '],
      ['words', 'all of them'],
      ['a prerelease', '1.0.0-alpha'],
      ['build data', '1.0.0+5'],
      ['an empty alternative, which would mean all', '1.0.0 ||'],
      ['a leading alternative', '|| 1.0.0'],
      ['huge numbers', '99999999999999999999.0.0'],
      ['thousands of alternatives', Array(3000).fill('1.0.0').join('||')],
      ['a long range', Array(40).fill('1.0.0').join(' ')],
      ['a range in which nothing can be', '>2.0.0 <1.0.0'],
      ['a lower version that does not exist', '1.0.5'],
      ['a range between versions', '>1.1.0 <2.0.0'],
      ['a range above that no version can be in', '>2.0.0 <2.0.1'],
    ])('refuse %s', async (_what, range) => {
      const name = await make()
      const refusal = await refusalOf(owner.api.recallSkill({ name, range, reason }))
      expect(refusal.code).toBe('invalid_request')
      expect(refusal.errors.map(({ path }) => path)).toEqual(['range'])
      expect(await test.api().listRecalls({ name })).toEqual({ recalls: [] })
    })

    it.each([
      '1.0.0',
      '=1.0.0',
      '^1.0.0',
      '~1.0',
      '1.x',
      '<1.1.0',
      '>=1.0.0 <1.1.0',
      '0.9.0 - 1.0.5',
      '1.0.0 || 7.x',
      '*',
    ])('accept the range %s', async (range) => {
      const name = await make()
      expect((await recall(name, range)).versions).toContain('1.0.0')
      expect(await codeOf(test.api().getArchive({ name, version: '1.0.0' }))).toBe('recalled')
    })

    it('refuse a reason that is missing, empty, invisible or too long', async () => {
      const name = await make()
      for (const bad of ['', '\u200b', 'x'.repeat(501), undefined as never])
        expect(await codeOf(owner.api.recallSkill({ name, range: '*', reason: bad }))).toBe('invalid_request')
    })

    it('store a reason of several lines as a single line', async () => {
      const name = await make()
      const { reason: stored } = await owner.api.recallSkill({ name, range: '*', reason: 'One.\n\n## Two\r\nThree' })
      expect(stored).toBe('One. ## Two Three')
    })

    it('are refused beyond 20 active recalls of a skill; ended recalls do not count', async () => {
      const name = await make()
      const ids: string[] = []
      for (let i = 0; i < 20; i++) ids.push((await recall(name, `<=1.0.${i}`)).id)
      expect(await codeOf(recall(name, '1.0.0'))).toBe('conflict')
      for (const id of ids) await owner.api.endRecall({ name, id })
      expect((await recall(name, '2.0.0')).versions).toEqual(['2.0.0'])
      expect((await test.api().listRecalls({ name })).recalls).toHaveLength(21)
    })
  })

  it('that are repeated with the same range and reason return the first recall, with a single log entry', async () => {
    const name = await make()
    const first = await recall(name, '2.x')
    test.clock.advance(1000)
    expect(await recall(name, '2.x')).toEqual(first)
    expect((await feedOf(name)).filter(({ type }) => type === 'recall')).toHaveLength(1)
    const another = await owner.api.recallSkill({ name, range: '2.x', reason: 'Another.' })
    expect(another.id).not.toBe(first.id)
    for (const { id } of [first, another]) await owner.api.endRecall({ name, id })
    expect((await recall(name, '2.x')).id).not.toBe(first.id)
  })

  it('are listed with the versions that each recall covers', async () => {
    const name = await make()
    for (const range of ['1.0.0', '1.x', '9.x']) await recall(name, range)
    const { recalls } = await test.api().listRecalls({ name })
    expect(Object.fromEntries(recalls.map(({ range, versions }) => [range, versions]))).toEqual({
      '1.0.0': ['1.0.0'],
      '1.x': ['1.1.0', '1.0.0'],
      '9.x': [],
    })
  })

  describe('of a skill that moves', () => {
    it('move with the skill to another owner, who may end the recalls', async () => {
      const name = await make()
      const { id } = await recall(name, '2.x')
      await owner.api.transferSkill({ name, newOwner: other.username })
      await other.api.acceptTransfer({ name })
      const moved = `${other.username}/${name.split('/')[1]}`
      expect(await codeOf(test.api().getArchive({ name: moved, version: '2.0.0' }))).toBe('recalled')
      expect(await codeOf(owner.api.endRecall({ name: moved, id }))).toBe('forbidden')
      const entries = (await feedOf(moved)).map(({ type }) => type)
      expect(entries).toEqual(['version', 'version', 'version', 'recall', 'skill'])
      await other.api.endRecall({ name: moved, id })
      await test.api().getArchive({ name: moved, version: '2.0.0' })
    })
  })

  describe('in heartbeats', () => {
    it('take precedence over a yank, and have their reason in a separate field', async () => {
      const name = await make()
      expect(await heartbeat(name, '2.0.0')).toBeUndefined()
      await owner.api.yankVersion({ name, version: '2.0.0' })
      const { at, id } = await recall(name, '2.x')
      const update = await heartbeat(name, '2.0.0')
      expect(update).toMatchObject({
        reason: 'recalled',
        latestVersion: '1.1.0',
        recalled: { range: '2.x', reason, at },
      })
      expect(update!.message).toContain('was recalled')
      expect(update!.message).not.toContain(reason)
      expect(await heartbeat(name, '1.1.0')).toBeUndefined()
      await owner.api.endRecall({ name, id })
      expect(await heartbeat(name, '2.0.0')).toMatchObject({ reason: 'yanked' })
      expect((await heartbeat(name, '2.0.0'))!.recalled).toBeUndefined()
    })

    it('report no latest version if every version is recalled', async () => {
      const name = await make(['1.0.0'])
      await recall(name, '*')
      expect(await heartbeat(name, '1.0.0')).toMatchObject({ reason: 'recalled', latestVersion: '' })
    })
  })

  describe('in the list', () => {
    it('show only the owner and administrators how many agents have a recalled version', async () => {
      const name = await make()
      for (const [key, version] of [
        ['claude-code:a', '2.0.0'],
        ['claude-code:b', '2.0.0'],
        ['codex:a', '2.0.0'],
        ['codex:b', '1.0.0'],
      ] as const) {
        const agentKey = key.replace(':', `:${name.split('/')[1]}-`)
        const { agentToken } = await makeAgent(test, agentKey)
        await test.apiWith({ agentToken }).heartbeat({ agentKey, installedSkills: [{ skillName: name, version }] })
      }
      await recall(name, '2.x')
      const agents = [
        { version: '2.0.0', platform: 'claude-code', count: 2 },
        { version: '2.0.0', platform: 'codex', count: 1 },
      ]
      for (const api of [owner.api, test.admin.api])
        expect((await api.listRecalls({ name })).known).toEqual({ agents, users: [] })
      for (const api of [other.api, test.api()]) expect((await api.listRecalls({ name })).known).toBeUndefined()
    })
  })

  it('keep the bytes readable by their digest, for mirrors', async () => {
    const name = await make()
    await recall(name, '2.x')
    const { files } = await test.api().getVersion({ name, version: '2.0.0' })
    expect((await bytesOf(await test.api().getBlob({ digest: files[0]!.digest }))).toString()).toContain(
      'Version 2.0.0.',
    )
  })
})
