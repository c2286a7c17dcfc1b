import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { openFalseNode, type FalseEntry, type FalseNode } from '../support/false-node.ts'
import { describeInTurn, startMs } from '../support/harness.ts'
import { endMirrors, openMirror } from '../support/mirror-harness.ts'

afterEach(endMirrors)

describeInTurn('a sync of a log with manipulated entries', (open) => {
  /** A mirror of a false node with so many skills. */
  async function follow(skills: number) {
    const node = await openFalseNode(startMs)
    for (let i = 0; i < skills; i += 1) node.publish(`alice/skill-${i}`)
    const followed = await openMirror(open)
    await followed.mirror.add('main', node.url, { everySeconds: 0, maxAgeSeconds: 0 })
    if (skills > 0) await followed.mirror.sync('main')
    const served = async () => (await followed.test.api().searchSkills({ limit: 100 })).total
    return { node, served, ...followed }
  }

  describe('with invalid or oversized texts', () => {
    const nul = 'a\u0000b'
    const long = randomBytes(20_000).toString('hex')

    it.each<[string, (node: FalseNode) => void]>([
      ['a subject with a zero character', (node) => void node.append({ type: 'yank', subject: nul, data: {} })],
      ['a subject of 40,000 characters', (node) => void node.append({ type: 'yank', subject: long, data: {} })],
      ['a source with a zero character', (node) => publishNew(node, { forkedFrom: { fullName: nul, version: nul } })],
      ['a source of 40,000 characters', (node) => publishNew(node, { forkedFrom: { fullName: long, version: '1' } })],
      [
        'zero characters in every text',
        (node) =>
          publishNew(node, {
            displayName: nul,
            description: nul,
            license: nul,
            keywords: [nul],
            changelog: nul,
            category: nul,
            repository: nul,
            deprecationMessage: nul,
          }),
      ],
      [
        'a pack that leaves no room',
        (node) => {
          const pack = { id: '019b0000-0000-7000-8000-000000000001', slug: 'full' }
          const { owner } = node.entries[0]!.data
          const skills = [{ fullName: 'alice/before', pinnedVersion: null, note: 'x'.repeat(64_990) }]
          node.append({ type: 'pack', subject: 'full', data: { pack, curator: owner, withdrawn: false, skills } })
        },
      ],
      [
        'long texts',
        (node) => publishNew(node, { displayName: long, license: 'y'.repeat(9000), keywords: ['z'.repeat(9000)] }),
      ],
      ['an unknown field, as long as an entry may be', (node) => fill(publishNew(node, { more: '' }), 'more')],
      ['an origin with much in it', (node) => fill(publishNew(node, { origin: { ...first, more: '' } }), 'origin')],
      ['a time far from here', (node) => publishNew(node, {}, { at: '2026-01-01T00:00:00+01' })],
    ])('imports the later entries after %s', async (_, spoil) => {
      const { node, mirror, test } = await follow(0)
      node.publish('alice/before')
      spoil(node)
      node.publish('alice/after')
      await mirror.sync('main')
      expect(await test.api().getSkill({ name: 'alice/after' })).toMatchObject({ latestVersion: '1.0.0' })
      await mirror.sync('main', { full: true })
    })

    it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
      ['a repository that runs code', { repository: 'javascript:alert(1)' }, { repository: '' }],
      ['a repository without a host', { repository: 'https://' }, { repository: '' }],
      ['a repository of 600 characters', { repository: `https://a.example/${'x'.repeat(600)}` }, { repository: '' }],
      ['a repository', { repository: 'https://a.example/x' }, { repository: 'https://a.example/x' }],
      [
        'a long message',
        { deprecated: true, deprecationMessage: 'y'.repeat(2000) },
        { deprecationMessage: 'y'.repeat(1000) },
      ],
    ])('limits texts to what could be published on this node: %s', async (_, said, shown) => {
      const { node, mirror, test } = await follow(0)
      const { data } = node.publish('alice/new', { data: said })
      await mirror.sync('main')
      expect(await test.api().getSkill({ name: 'alice/new' })).toMatchObject(shown)
      node.append({ type: 'skill', subject: 'alice/new', data: { ...data, ...said, displayName: 'Changed' } })
      await mirror.sync('main')
      expect(await test.api().getSkill({ name: 'alice/new' })).toMatchObject({ ...shown, displayName: 'Changed' })
    })

    it('imports at most as many keywords of a skill as users may publish', async () => {
      const { node, mirror, test } = await follow(0)
      node.publish('alice/new', { data: { keywords: Array.from({ length: 200 }, (__, i) => `word-${i}`) } })
      await mirror.sync('main')
      expect((await test.api().getSkill({ name: 'alice/new' })).keywords).toHaveLength(32)
    })

    it('applies a removal whose entry has the maximum length', async () => {
      const { node, mirror, served } = await follow(2)
      fill(withdraw(node, node.entries[0]!, { more: '' }), 'more')
      expect(await mirror.sync('main')).toMatchObject({ removed: 1 })
      expect(await served()).toBe(1)
    })
  })

  describe('that hide many skills', () => {
    const many = 8

    it.each<[string, (node: FalseNode) => void]>([
      [
        'by telling its versions again, yanked',
        (node) => eachOf(node, (entry) => tellAgain(node, entry, { yanked: true })),
      ],
      [
        'and tells something of each after it that makes no sense',
        (node) =>
          eachOf(node, (entry) => {
            withdraw(node, entry)
            tellAgain(node, entry, { version: 'none' })
          }),
      ],
      [
        'and tells a version of each after it that it does not have',
        (node) =>
          eachOf(node, (entry) => {
            withdraw(node, entry)
            const digest = `sha256:${'0'.repeat(64)}`
            tellAgain(node, entry, { version: '2.0.0', files: [{ path: 'SKILL.md', size: 3, digest }] }, digest)
          }),
      ],
      [
        'and tells a version of each after the first removal, and before its own',
        (node) => {
          const entries = [...node.entries]
          withdraw(node, entries[0]!)
          for (const entry of entries) tellAgain(node, entry, {})
          for (const entry of entries) withdraw(node, entry)
        },
      ],
    ])('pauses before it hides more skills than allowed: %s', async (_, spoil) => {
      const { node, mirror, served, alarms } = await follow(many)
      spoil(node)
      await expect(mirror.sync('main')).rejects.toMatchObject({ code: 'conflict' })
      expect(alarms).toEqual(['main: mass_removal'])
      expect(await served()).toBeGreaterThanOrEqual(many - 5)
      await mirror.sync('main', { allowRemovals: true })
      expect(await served()).toBe(0)
    })

    it('does not pause if later entries of the same sync restore the yanked versions', async () => {
      const { node, mirror, served, alarms } = await follow(many)
      for (const yanked of [true, false]) eachOf(node, (entry) => yank(node, entry, yanked), many)
      await mirror.sync('main')
      expect(alarms).toEqual([])
      expect(await served()).toBe(many)
      await mirror.sync('main', { full: true })
      expect(alarms).toEqual([])
    })
  })

  it('keeps skills that were withdrawn and published again when a full sync compares all entries', async () => {
    const { node, mirror, test, served, alarms } = await follow(8)
    const entries = [...node.entries]
    for (const entry of entries) {
      withdraw(node, entry)
      tellAgain(node, entry, {})
    }
    await mirror.sync('main')
    const { head } = await test.api().getFeed({})
    expect(await mirror.sync('main', { full: true })).toMatchObject({ applied: 0, removed: 0 })
    expect((await test.api().getFeed({})).head).toBe(head)
    expect(await served()).toBe(8)
    expect(alarms).toEqual([])
  })
})

const first = { origin: 'first.example', epoch: 1, seq: 1 }

function publishNew(node: FalseNode, data: object, entry: Partial<FalseEntry> = {}): FalseEntry {
  return node.publish('mallory/new', { files: { 'SKILL.md': skillMd('new') }, data: { ...data }, entry })
}

/** Makes an entry as long as one may be. */
function fill({ ...entry }: FalseEntry, field: 'more' | 'origin'): void {
  const text = 'x'.repeat(65_535 - Buffer.byteLength(JSON.stringify(entry)))
  entry.data[field] = field === 'more' ? text : { ...first, more: text }
}

function eachOf(node: FalseNode, spoil: (entry: FalseEntry) => void, count = node.entries.length): void {
  for (const entry of node.entries.slice(0, count)) spoil(entry)
}

function withdraw(node: FalseNode, { subject, data }: FalseEntry, more: object = {}): FalseEntry {
  const { skill, owner } = data
  return node.append({ type: 'withdrawn', subject: subject.split('@')[0]!, data: { skill, owner, ...more } })
}

function yank(node: FalseNode, { subject, data, digest }: FalseEntry, yanked: boolean): void {
  const { skill, owner, version } = data
  node.append({ type: 'yank', subject, digest, data: { skill, owner, version, yanked } })
}

function tellAgain(node: FalseNode, { subject, data, digest }: FalseEntry, more: object, other = digest): void {
  const whole = { ...data, ...more }
  node.append({ type: 'version', subject: `${subject.split('@')[0]}@${whole['version']}`, digest: other, data: whole })
}
