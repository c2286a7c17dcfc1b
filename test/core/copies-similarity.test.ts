import { partsOf, type StorageContext, toSketch } from '@skillstead/core/internal'
import { beforeAll, expect, it } from 'vitest'
import { CopyIndex } from '../../packages/core/src/catalogue/sketches/copy-index.ts'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, skillMd } from '../support/answers.ts'
import { describeApi, describeDatabases, startMs, type TestRegistry, type TestUser } from '../support/harness.ts'

const text = (from: number, words = 60) => Array.from({ length: words }, (_, i) => `word${from + i}`).join(' ')
const hanText = (from: number, characters = 80) =>
  Array.from({ length: characters }, (_, i) => String.fromCodePoint(0x4e00 + from + i)).join('')

type Options = { visibility?: 'public' | 'internal' | 'private'; version?: string }

async function warningsOf(user: TestUser, name: string, body: string, dryRun = false) {
  const { warnings } = await user.api.publishSkill({ skillMd: skillMd(name, { body }), dryRun })
  return warnings.filter(({ code }) => code === 'resembles').map(({ message }) => message)
}

describeApi('the similarity of a skill to other skills', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser

  async function publish(user: TestUser, name: string, body: string, { visibility, version }: Options = {}) {
    test.clock.advance(1000)
    return user.api.publishSkill({ skillMd: skillMd(name, { body, version }), visibility })
  }
  async function matchesOf(name: string, user?: TestUser) {
    const { matches } = await (user?.api ?? test.api()).getSimilarity({ name })
    return matches
  }
  async function namesOf(name: string, user?: TestUser) {
    return (await matchesOf(name, user)).map(({ skill }) => skill.fullName)
  }

  async function related(name: string) {
    return Object.fromEntries((await matchesOf(name)).map((match) => [match.skill.fullName, match.related]))
  }

  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
    await publish(alice, 'original', `# Original\n\n${text(0)}\n\n${text(100)}\n`)
  })

  it('is returned with its kind, the earlier skill, and the shared passages with their line numbers', async () => {
    const { skill } = await publish(bob, 'taken', `Mine.\n\n${text(0).toUpperCase()}\n\n${text(1000, 20)}`)
    const answer = await test.api().getSimilarity({ name: 'bob/taken' })
    expect(answer).toEqual({
      skill: { id: skill.id, fullName: 'bob/taken', version: '1.0.0' },
      scannedAt: new Date(test.clock.now()).toISOString(),
      matches: [
        {
          skill: { id: expect.any(String), fullName: 'alice/original', version: '1.0.0' },
          similarity: 56 / 77,
          kind: 'partial',
          publishedFirst: true,
          related: null,
          passages: [{ text: text(0).toUpperCase(), line: 8, otherLine: 8 }],
        },
      ],
    })
    const [back] = await matchesOf('original')
    expect(back).toMatchObject({
      skill: { fullName: 'bob/taken' },
      similarity: 56 / 77,
      publishedFirst: false,
      passages: [{ text: text(0), line: 8, otherLine: 8 }],
    })
  })

  it('lists exact, near and partial copies, most similar first, with a similarity of at least 0.3', async () => {
    const words = text(2000, 200)
    await publish(alice, 'kinds', words)
    await publish(bob, 'kinds-exact', `> ${words.toUpperCase()}`)
    await publish(bob, 'kinds-near', words.replace('word2100', 'changed'))
    await publish(bob, 'kinds-part', `${words} ${text(5000, 400)}`)
    await publish(bob, 'kinds-half', `${text(2000, 102)} ${text(6000, 102)}`)
    await publish(bob, 'kinds-little', `${text(2000, 50)} ${text(7000, 150)}`)
    const found = await matchesOf('kinds')
    expect(found.map(({ skill, kind }) => [skill.fullName, kind])).toEqual([
      ['bob/kinds-exact', 'exact'],
      ['bob/kinds-part', 'partial'],
      ['bob/kinds-near', 'near'],
      ['bob/kinds-half', 'partial'],
    ])
    const shares = found.map(({ similarity }) => similarity)
    expect(shares).toEqual(shares.toSorted((a, b) => b - a))
  })

  it('is listed for both skills if the body of the small skill is part of the large skill', async () => {
    await publish(alice, 'small', text(10_000, 100))
    await publish(bob, 'large', `${text(20_000, 3000)} ${text(10_000, 100)} ${text(30_000, 3000)}`)
    expect(await matchesOf('large')).toMatchObject([
      { skill: { fullName: 'alice/small' }, similarity: 1, kind: 'partial' },
    ])
    expect(await namesOf('small')).toEqual(['bob/large'])
  })

  it('is marked as related for forks, even forks of forks, and for skills of the same owner', async () => {
    await publish(alice, 'root', text(40_000, 100))
    await bob.api.forkSkill({ name: 'alice/root', newName: 'branch' })
    await carol.api.forkSkill({ name: 'bob/branch', newName: 'twig' })
    await publish(alice, 'again', text(40_000, 90))
    await publish(carol, 'stolen', text(40_000, 80))
    expect(await related('alice/root')).toEqual({
      'bob/branch': 'fork',
      'carol/twig': 'fork',
      'alice/again': 'same-owner',
      'carol/stolen': null,
    })
    expect(await related('carol/twig')).toEqual({
      'alice/root': 'fork',
      'bob/branch': 'fork',
      'alice/again': null,
      'carol/stolen': 'same-owner',
    })
    expect(await related('carol/stolen')).toMatchObject({ 'alice/root': null, 'carol/twig': 'same-owner' })
  })

  it('finds text that only an older version contains, and returns the number of the older version', async () => {
    await publish(alice, 'rewritten', text(50_000, 80))
    await publish(alice, 'rewritten', text(51_000, 80))
    await publish(bob, 'old-copy', text(50_000, 80))
    expect(await matchesOf('old-copy')).toMatchObject([
      { skill: { fullName: 'alice/rewritten', version: '1.0.0' }, kind: 'exact', publishedFirst: true },
    ])
    expect(await namesOf('rewritten')).toEqual([])
  })

  it('still treats the first skill as the original if its later version repeats the text', async () => {
    await publish(alice, 'first', text(60_000, 80))
    await publish(bob, 'second', text(60_000, 80))
    const { warnings } = await publish(alice, 'first', `${text(60_000, 80)} ${text(61_000, 200)}`)
    expect(warnings.filter(({ code }) => code === 'resembles')).toEqual([])
    expect(await matchesOf('first')).toMatchObject([{ skill: { fullName: 'bob/second' }, publishedFirst: false }])
    expect(await matchesOf('second')).toMatchObject([{ skill: { fullName: 'alice/first' }, publishedFirst: true }])
  })

  it('compares text character by character in scripts without spaces between words', async () => {
    await publish(alice, 'han', hanText(0))
    await publish(bob, 'han-copy', `${hanText(0)}${hanText(500)}`)
    await publish(bob, 'han-other', hanText(1000))
    expect(await matchesOf('han-copy')).toMatchObject([
      { skill: { fullName: 'alice/han' }, similarity: 1, passages: [{ text: hanText(0) }] },
    ])
    expect(await namesOf('han-other')).toEqual([])
  })

  it('finds a copy whose prose was translated but not its code', async () => {
    const code = `\`\`\`sh\n${text(120_000, 24)}\n\`\`\``
    await publish(alice, 'told', `${text(130_000)}\n\n${code}\n`)
    await publish(bob, 'retold', `${text(140_000)}\n\n${code}\n`)
    // With the language of the fence, 21 of 81 runs are shared, all in code.
    expect(await matchesOf('retold')).toMatchObject([
      { skill: { fullName: 'alice/told' }, similarity: (3 * 21) / (81 + 2 * 21), kind: 'partial' },
    ])
  })

  it('is not computed for very short bodies', async () => {
    for (const user of [alice, bob]) {
      await publish(user, 'empty', '')
      await publish(user, 'tiny', 'Just do it.')
    }
    for (const name of ['alice/empty', 'alice/tiny']) expect(await matchesOf(name)).toEqual([])
  })

  it('includes only skills that the caller may see', async () => {
    await publish(alice, 'shown', text(70_000, 80))
    await publish(bob, 'secret', text(70_000, 80), { visibility: 'private' })
    await publish(bob, 'inside', text(70_000, 70), { visibility: 'internal' })
    expect(await namesOf('shown')).toEqual([])
    expect(await namesOf('shown', carol)).toEqual(['bob/inside'])
    expect(await namesOf('shown', bob)).toEqual(['bob/secret', 'bob/inside'])
    expect(await codeOf(carol.api.getSimilarity({ name: 'bob/secret' }))).toBe('not_found')
    expect(await codeOf(test.api().getSimilarity({ name: 'bob/inside' }))).toBe('not_found')
    await addCollaborator(test, bob, { name: 'bob/secret', username: 'carol', role: 'read' })
    expect(await namesOf('shown', carol)).toEqual(['bob/secret', 'bob/inside'])
  })

  it('includes no deleted or hidden skill and no skill without a version, even for its owner', async () => {
    await publish(alice, 'kept', text(80_000, 80))
    for (const name of ['gone', 'hidden', 'yanked']) await publish(bob, name, text(80_000, 80))
    expect(await namesOf('kept')).toHaveLength(3)
    await bob.api.deleteSkill({ name: 'bob/gone' })
    await test.admin.api.moderateSkill({ name: 'bob/hidden', state: 'hidden', reason: 'Looked at.' })
    await bob.api.yankVersion({ name: 'bob/yanked', version: '1.0.0' })
    for (const user of [undefined, bob, test.admin]) expect(await namesOf('kept', user)).toEqual([])
    expect(await codeOf(test.api().getSimilarity({ name: 'bob/yanked' }))).toBe('not_found')
  })

  it('is listed under the new name of a skill that was transferred', async () => {
    await publish(alice, 'moving', text(90_000, 80))
    await publish(bob, 'moving-copy', text(90_000, 80))
    await alice.api.transferSkill({ name: 'alice/moving', newOwner: 'bob' })
    await bob.api.acceptTransfer({ name: 'alice/moving' })
    expect(await matchesOf('moving-copy')).toMatchObject([{ skill: { fullName: 'bob/moving' }, related: 'same-owner' }])
  })

  it('includes at most twenty skills', async () => {
    for (let i = 0; i < 23; i++)
      await publish(carol, `many-${i}`, `${text(100_000, 80)} ${text(200_000 + 100 * i, 10)}`)
    expect(await namesOf('many-3')).toHaveLength(20)
  })

  it('finds a copy even if very many skills contain the same text', async () => {
    expect(await namesOf('many-22')).toContain('carol/many-0')
  })
})

describeApi('a publish that resembles', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    await alice.api.publishSkill({ skillMd: skillMd('original', { body: text(0, 100) }) })
    await alice.api.publishSkill({ skillMd: skillMd('secret', { body: text(1000, 100) }), visibility: 'private' })
    await alice.api.publishSkill({ skillMd: skillMd('inside', { body: text(2000, 100) }), visibility: 'internal' })
  })
  it('another user’s skill gets a warning with the skill’s name and the shared part, and succeeds', async () => {
    const [message, ...more] = await warningsOf(bob, 'half', `${text(0, 52)} ${text(5000, 40)}`)
    expect(message).toContain('alice/original@1.0.0')
    expect(message).toContain('55 %')
    expect(more).toEqual([])
    expect((await test.api().getSkill({ name: 'bob/half' })).latestVersion).toBe('1.0.0')
    expect((await warningsOf(bob, 'dry', text(0, 100), true))[0]).toContain('word for word')
    expect(await codeOf(test.api().getSkill({ name: 'bob/dry' }))).toBe('not_found')
  })

  it.each([
    ['says something else', 'bob', 'other', text(6000, 100)],
    ['shares less than 0.4', 'bob', 'little', `${text(0, 30)} ${text(7000, 70)}`],
    ['is of the same owner', 'alice', 'again', text(0, 100)],
    ['is of a private skill, whose existence is secret', 'bob', 'unknowing', text(1000, 100)],
    ['is of a skill that is not public', 'bob', 'unaware', text(2000, 100)],
    ['says next to nothing', 'bob', 'short', 'Be brief.'],
  ])('another skill gets no warning if it %s', async (_, username, name, body) => {
    expect(await warningsOf(username === 'alice' ? alice : bob, name, body)).toEqual([])
  })

  it('its own fork source gets no warning', async () => {
    await bob.api.forkSkill({ name: 'alice/original', newName: 'forked' })
    expect(await warningsOf(bob, 'forked', `${text(0, 100)} and more`)).toEqual([])
  })

  it('another user’s later copy of the publisher’s own text gets no warning', async () => {
    test.clock.advance(1000)
    expect(await warningsOf(alice, 'original', `${text(0, 100)} one more word`)).toEqual([])
  })
})

/** Resets a database to the state that an older release wrote. */
async function forgetCopies({ database }: StorageContext): Promise<void> {
  await database.writer.write(async (trx) => {
    for (const table of ['shared_shingles', 'waiting_sketches', 'version_sketches'] as const)
      await trx.deleteFrom(table).execute()
    await trx.insertInto('meta').values({ key: 'copies.sketched', value: '' }).execute()
  })
}

async function isSketched({ database }: StorageContext): Promise<boolean> {
  const rows = await database.read.selectFrom('meta').select('key').where('key', '=', 'copies.sketched').execute()
  return rows.length === 0
}

async function countOf({ database }: StorageContext, table: 'shared_shingles' | 'waiting_sketches') {
  return (await database.read.selectFrom(table).selectAll().execute()).length
}

async function matchesIn(test: TestRegistry, name: string) {
  return (await test.api().getSimilarity({ name })).matches
}

describeDatabases('the index of copies', (open, dialect) => {
  it('returns the same copies before and after pending entries are inserted, in every process', async () => {
    const test = await open()
    const [alice, bob] = [await test.makeUser('alice'), await test.makeUser('bob')]
    const answers = async () => {
      const similar = await Promise.all(['first', 'copy', 'part'].map((name) => matchesIn(test, name)))
      const warned = await warningsOf(bob, 'another', text(3, 90), true)
      expect(warned).toHaveLength(1)
      return { similar, warned }
    }
    await alice.api.publishSkill({ skillMd: skillMd('first', { body: text(0, 100) }) })
    await partsOf(test.registry).copies.enter()
    test.clock.advance(1000)
    await alice.api.publishSkill({ skillMd: skillMd('first', { body: `${text(0, 100)} ${text(500, 40)}` }) })
    await bob.api.publishSkill({ skillMd: skillMd('copy', { body: text(5, 90) }) })
    await bob.api.publishSkill({ skillMd: skillMd('part', { body: `${text(510, 30)} ${text(900, 30)}` }) })

    const before = await answers()
    expect(before.similar[1]!.map(({ skill }) => skill.fullName)).toEqual(['alice/first'])
    expect(await countOf(partsOf(test.registry), 'waiting_sketches')).toBe(3)
    const entered = await countOf(partsOf(test.registry), 'shared_shingles')
    const other = await open({ at: test.location })
    expect(await matchesIn(other, 'copy')).toEqual(before.similar[1])

    await partsOf(other.registry).copies.enter()
    expect(await countOf(partsOf(test.registry), 'waiting_sketches')).toBe(0)
    expect(await countOf(partsOf(test.registry), 'shared_shingles')).toBeGreaterThan(entered)
    // The first process still treats as pending what the other one inserted.
    expect(await answers()).toEqual(before)
    const later = await open({ at: test.location })
    expect(await matchesIn(later, 'copy')).toEqual(before.similar[1])
  })

  it('inserts pending entries automatically when many entries are pending', async () => {
    const test = await open({ works: false })
    const alice = await test.makeUser('alice')
    const index = new CopyIndex(partsOf(test.registry).database, (error) => expect.unreachable(String(error)), {
      waitingMax: 3,
    })
    for (let i = 0; i < 3; i++)
      await alice.api.publishSkill({ skillMd: skillMd(`s${i}`, { body: text(1000 * i, 60) }) })
    expect(await countOf(partsOf(test.registry), 'waiting_sketches')).toBe(3)
    const [shared] = await index.findShared(toSketch(Buffer.from(skillMd('any', { body: text(0, 60) }))).lookedUp)
    expect(shared!.shared).toBeGreaterThan(5)
    await expect.poll(() => countOf(partsOf(test.registry), 'waiting_sketches')).toBe(0)
    await index.stop()
  })

  it.skipIf(dialect !== 'PostgreSQL')(
    'inserts pending entries while another write holds the lock (PostgreSQL)',
    async () => {
      const test = await open({ works: false })
      const parts = partsOf(test.registry)
      const alice = await test.makeUser('alice')
      await alice.api.publishSkill({ skillMd: skillMd('first', { body: text(0, 100) }) })
      const { promise: end, resolve } = Promise.withResolvers<void>()
      const writing = parts.database.writer.write(() => end)
      const entering = parts.copies.enter()
      await expect.poll(() => countOf(parts, 'shared_shingles')).toBeGreaterThan(0)
      expect(await countOf(parts, 'waiting_sketches')).toBe(1)
      resolve()
      await Promise.all([writing, entering])
      expect(await countOf(parts, 'waiting_sketches')).toBe(0)
    },
  )

  it('ignores a version that was rolled back', async () => {
    const test = await open()
    const alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('tried', { body: text(0, 60) }), dryRun: true })
    expect(await countOf(partsOf(test.registry), 'waiting_sketches')).toBe(0)
    expect(await warningsOf(alice, 'meant', text(0, 60))).toEqual([])
  })
})

describeDatabases('a database from before the index of copies', (open) => {
  it('is indexed in batches after it is opened, and can be queried during the indexing', async () => {
    const test = await open()
    const { database } = partsOf(test.registry)
    const alice = await test.makeUser('alice')
    for (let i = 0; i < 5; i++)
      await alice.api.publishSkill({
        skillMd: skillMd(`s${i}`, { body: `${text(0, 80)} ${text(1000 + 100 * i, 20)}` }),
      })
    await partsOf(test.registry).copies.enter()
    const before = await database.read.selectFrom('shared_shingles').selectAll().execute()
    expect(before.length).toBeGreaterThan(0)
    await forgetCopies(partsOf(test.registry))

    const idle = await open({ at: test.location, works: false })
    expect((await idle.api().getSimilarity({ name: 's0' })).matches).toEqual([])
    const old = await open({ at: test.location })
    await expect.poll(() => isSketched(partsOf(old.registry))).toBe(true)
    expect((await old.api().getSimilarity({ name: 's0' })).matches).toHaveLength(4)
    await partsOf(old.registry).copies.enter()
    const after = await partsOf(old.registry).database.read.selectFrom('shared_shingles').selectAll().execute()
    expect(after.length).toBe(before.length)
  })

  it('skips a text whose bytes are lost or damaged', async () => {
    const test = await open()
    const { database } = partsOf(test.registry)
    const alice = await test.makeUser('alice')
    const bob = await test.makeUser('bob')
    for (const name of ['lost', 'damaged', 'whole'])
      await alice.api.publishSkill({ skillMd: skillMd(name, { body: `${name} ${text(0)}` }) })
    const digestOf = async (name: string) =>
      (await test.api().getSkill({ name })).files.find(({ path }) => path === 'SKILL.md')!.digest
    const [lost, damaged] = [await digestOf('lost'), await digestOf('damaged')]
    await database.writer.write(async (trx) => {
      await trx.updateTable('blobs').set({ digest: 'sha256:gone' }).where('digest', '=', lost).execute()
      const set = { encoding: 'deflate-raw', bytes: Buffer.from('damaged') } as const
      await trx.updateTable('blobs').set(set).where('digest', '=', damaged).execute()
    })
    expect((await test.api().getSimilarity({ name: 'whole' })).matches).toEqual([])
    expect((await bob.api.publishSkill({ skillMd: skillMd('mine', { body: text(0) }) })).created).toBe(true)

    await forgetCopies(partsOf(test.registry))
    const old = await open({ at: test.location })
    await expect.poll(() => isSketched(partsOf(old.registry))).toBe(true)
    const { matches } = await old.api().getSimilarity({ name: 'whole' })
    expect(matches.map(({ skill }) => skill.fullName)).toEqual(['bob/mine'])
  })

  it('stores no index entry twice if a version repeats the text of an older version', async () => {
    const test = await open()
    const { read } = partsOf(test.registry).database
    const alice = await test.makeUser('alice')
    const rows = async () => {
      await partsOf(test.registry).copies.enter()
      return (await read.selectFrom('shared_shingles').selectAll().execute()).length
    }
    await alice.api.publishSkill({ skillMd: skillMd('grows', { body: text(0, 200), version: '1.0.0' }) })
    const first = await rows()
    expect(first).toBeGreaterThan(0)
    await alice.api.publishSkill({ skillMd: skillMd('grows', { body: text(0, 200), version: '1.0.1' }) })
    expect(await rows()).toBe(first)
    expect(test.clock.now()).toBe(startMs)
  })
})
