import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, refusalOf, skillMd, textOf } from '../support/answers.ts'
import { describeMatrix, type TestRegistry, type TestUser } from '../support/harness.ts'

/** The results of two concurrent calls: `done`, or the error code. */
async function endsOf(...calls: Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls)
  return settled.map((end) => (end.status === 'fulfilled' ? 'done' : (end.reason as { code: string }).code))
}

describeMatrix('at the same moment', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
  })

  const offered = async (name: string) => {
    await alice.api.publishSkill({ skillMd: skillMd(name) })
    await alice.api.transferSkill({ name: `alice/${name}`, newOwner: 'bob' })
    return { name: `alice/${name}` }
  }

  it('a transfer is cancelled or accepted, never both', async () => {
    const name = await offered('torn')
    const ends = await endsOf(alice.api.cancelTransfer(name), bob.api.acceptTransfer(name))
    expect(ends.toSorted()).toEqual(['done', 'not_found'])
    const { fullName } = await test.api().getSkill({ name: 'torn' })
    expect(fullName).toBe(ends[0] === 'done' ? 'alice/torn' : 'bob/torn')
  })

  it('a transfer is either accepted or offered to another user, never both', async () => {
    const name = await offered('re-offered')
    const [offer, accept] = await endsOf(
      alice.api.transferSkill({ ...name, newOwner: 'carol' }),
      bob.api.acceptTransfer(name),
    )
    const { fullName } = await test.api().getSkill({ name: 're-offered' })
    const lastOffer = ['done', 'not_found', 'alice/re-offered']
    // The new owner is noticed before the change starts, or during it.
    const firstAccepted = [expect.stringMatching(/^(?:conflict|forbidden)$/), 'done', 'bob/re-offered']
    expect([offer, accept, fullName]).toEqual(offer === 'done' ? lastOffer : firstAccepted)
    expect((await carol.api.listTransfers()).total).toBe(offer === 'done' ? 1 : 0)
  })

  it('a skill is deleted or its transfer is accepted, never both', async () => {
    const name = await offered('gone')
    const ends = await endsOf(alice.api.deleteSkill(name), bob.api.acceptTransfer(name))
    expect(ends.filter((end) => end === 'done')).toHaveLength(1)
    expect(await codeOf(test.api().getSkill({ name: 'gone' })).catch(() => 'there')).toBe(
      ends[0] === 'done' ? 'not_found' : 'there',
    )
  })

  it.each(['hidden', 'taken_down'] as const)('the transfer of a %s skill cannot be accepted', async (state) => {
    const name = await offered(`case-${state.replace('_', '-')}`)
    await partsOf(test.registry).database.writer.write(async (trx) => {
      await trx.updateTable('skills').set({ state }).where('full_name', '=', name.name).execute()
    })
    expect(await codeOf(bob.api.acceptTransfer(name))).toBe('not_found')
  })

  it('a user forks a skill before it becomes unavailable to the user, or not at all', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('closing') })
    const { head } = await test.api().getFeed()
    const forks = Array.from({ length: 12 }, (_, i) => bob.api.forkSkill({ name: 'closing', newName: `open-${i}` }))
    await Promise.allSettled([...forks, alice.api.publishSkill({ name: 'closing', visibility: 'private' })])
    const { entries } = await test.api().getFeed({ since: head, limit: 100 })
    const closedAt = entries.findIndex(({ type, subject }) => type === 'withdrawn' && subject === 'alice/closing')
    expect(closedAt).toBeGreaterThanOrEqual(0)
    expect(entries.slice(closedAt + 1).map(({ subject }) => subject)).toEqual([])
  })

  it('a pack is changed before it is deleted, and its last log entry is the withdrawal', async () => {
    await bob.api.createPack({ name: 'Both', slug: 'both', description: '', skills: [] })
    await endsOf(
      bob.api.deletePack({ slug: 'both' }),
      bob.api.updatePack({ slug: 'both', name: 'After' }),
      bob.api.updatePack({ slug: 'both', name: 'Later' }),
    )
    const { entries } = await test.api().getFeed({ limit: 1000 })
    expect(entries.findLast(({ subject }) => subject === 'both')?.data.withdrawn).toBe(true)
    expect(await codeOf(test.api().getPack({ slug: 'both' }))).toBe('not_found')
  })

  it('two concurrent changes of one pack both apply', async () => {
    await bob.api.createPack({ name: 'Two', slug: 'two', description: '', skills: [] })
    await Promise.all([
      bob.api.updatePack({ slug: 'two', name: 'Changed' }),
      bob.api.updatePack({ slug: 'two', description: 'Changed too.' }),
    ])
    expect(await test.api().getPack({ slug: 'two' })).toMatchObject({ name: 'Changed', description: 'Changed too.' })
  })

  it('a collaborator publishes before the role is revoked, or not at all', async () => {
    const name = 'alice/roles'
    await alice.api.publishSkill({ skillMd: skillMd('roles') })
    for (const change of [{ skillMd: skillMd('roles', { body: 'Bad.' }) }, { description: 'Bad.' }]) {
      await addCollaborator(test, alice, { name, username: 'bob', role: 'write' })
      const { head } = await test.api().getFeed()
      const ends = await endsOf(
        alice.api.deleteCollaborator({ name, username: 'bob' }),
        bob.api.publishSkill({ name, ...change }),
        bob.api.yankVersion({ name, version: '1.0.0' }),
      )
      expect(ends[0]).toBe('done')
      const changes = (await test.api().getFeed({ since: head })).entries.length
      expect(changes).toBe(ends.slice(1).filter((end) => end === 'done').length)
      await alice.api.unyankVersion({ name, version: '1.0.0' })
    }
  })
})

const inCategory = (category: string, body: string) =>
  `---\nname: shelf\ndescription: D.\nmetadata:\n  category: ${category}\n---\n\n${body}\n`

const ofDescription = (description: string) => skillMd('mixed', { description, body: `${description}\n` })

describeMatrix('metadata set by the owner', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })

  const categoryOf = async () => (await test.api().getSkill({ name: 'shelf' })).category

  it('is kept when the version is yanked, and when the version is restored', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('kept') })
    await alice.api.publishSkill({ name: 'kept', description: 'OWNER SET' })
    const only = { name: 'kept', version: '1.0.0' }
    await alice.api.yankVersion(only)
    const yanked = await test.api().getSkill({ name: 'alice/kept' })
    expect(yanked).toMatchObject({ latestVersion: '', description: 'OWNER SET' })
    await alice.api.unyankVersion(only)
    const back = await test.api().getSkill({ name: 'kept' })
    expect(back).toMatchObject({ latestVersion: '1.0.0', description: 'OWNER SET' })
    await alice.api.publishSkill({ skillMd: skillMd('kept', { description: 'Next.' }) })
    expect((await test.api().getSkill({ name: 'kept' })).description, 'another version speaks').toBe('Next.')
  })

  it('keeps its category until a new latest version or a publish request changes it', async () => {
    await alice.api.publishSkill({ skillMd: inCategory('first', 'One.'), version: '2.0.0' })
    expect(await categoryOf()).toBe('first')
    await alice.api.publishSkill({ name: 'shelf', category: 'owned' })
    await alice.api.publishSkill({ skillMd: inCategory('first', 'One.') })
    expect(await categoryOf(), 'the same content again').toBe('owned')
    await alice.api.publishSkill({ skillMd: inCategory('lower', 'Lower.'), version: '1.0.0' })
    expect(await categoryOf(), 'a lower version').toBe('owned')
    await alice.api.publishSkill({ skillMd: inCategory('latest', 'Higher.'), version: '3.0.0' })
    expect(await categoryOf(), 'a higher version').toBe('latest')
    await alice.api.publishSkill({ skillMd: skillMd('shelf', { body: 'Lower.' }), version: '0.1.0', category: 'asked' })
    expect(await categoryOf(), 'the request').toBe('asked')
  })

  it('for one version is not shown with another version', async () => {
    await alice.api.publishSkill({
      skillMd: ofDescription('Old.'),
      displayName: 'Old Name',
      keywords: ['old'],
      license: 'MIT',
    })
    test.clock.advance(60_000)
    await alice.api.publishSkill({
      skillMd: ofDescription('New.'),
      displayName: 'New Name',
      keywords: ['new'],
      license: 'ISC',
    })
    await alice.api.publishSkill({ name: 'mixed', description: 'OWNER SET' })
    const [older, latest] = [
      { name: 'mixed', version: '1.0.0' },
      { name: 'mixed', version: '1.0.1' },
    ]
    const { digest, publishedAt, files } = await test.api().getVersion(older)
    const said = { description: 'Old.', displayName: 'Old Name', keywords: ['old'], license: 'MIT', summary: 'Old.' }
    expect(await test.api().getSkill(older)).toMatchObject({ ...said, digest, publishedAt, files })
    expect(await test.api().getSkill(latest)).toEqual(await test.api().getSkill({ name: 'mixed' }))
  })
})

describeMatrix('the source of a fork', (open) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  let carol: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
    carol = await test.makeUser('carol')
  })

  const toldTo = async (user?: TestUser) => (await (user?.api ?? test.api()).getSkill({ name: 'bob/fork' })).forkedFrom

  it('is shown with its current name to callers who may see it', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('source') })
    await bob.api.forkSkill({ name: 'source', newName: 'fork' })
    const shown = { fullName: 'alice/source', version: '1.0.0' }
    for (const user of [undefined, alice, bob]) expect(await toldTo(user)).toEqual(shown)
    await alice.api.publishSkill({ name: 'source', visibility: 'private' })
    for (const user of [undefined, bob]) expect(await toldTo(user)).toBeNull()
    expect((await bob.api.publishSkill({ name: 'fork', category: 'Mine' })).skill.forkedFrom).toBeNull()
    expect(await toldTo(alice)).toEqual(shown)
    await alice.api.publishSkill({ name: 'source', visibility: 'public' })
    expect(await toldTo()).toEqual(shown)
    await alice.api.deleteSkill({ name: 'source' })
    expect(await toldTo()).toBeNull()
  })

  it('is hidden from callers who may only see the fork', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    await addCollaborator(test, alice, { name: 'alice/secret', username: 'bob', role: 'read' })
    const fork = await bob.api.forkSkill({ name: 'alice/secret', newName: 'secret-fork' })
    expect(fork.forkedFrom?.fullName).toBe('alice/secret')
    await addCollaborator(test, bob, { name: 'bob/secret-fork', username: 'carol', role: 'read' })
    const read = await carol.api.getSkill({ name: 'bob/secret-fork' })
    expect(JSON.stringify(read)).not.toContain('alice/secret')
    await bob.api.publishSkill({ name: 'bob/secret-fork', visibility: 'public' })
    expect(JSON.stringify(await test.api().getFeed({ limit: 1000 }))).not.toContain('alice/secret')
  })
})

describeMatrix('lists and look-ups', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
    await alice.api.publishSkill({ skillMd: skillMd('there') })
  })

  it('omit skills whose versions are all yanked, unless a pack pins a version', async () => {
    await alice.api.publishSkill({ skillMd: skillMd('all-yanked') })
    const packs = { name: 'P', description: '', skills: ['there', 'all-yanked'] }
    const pin = { name: 'all-yanked', version: '1.0.0' }
    await alice.api.createPack({ ...packs, slug: 'floating' })
    await alice.api.createPack({ ...packs, slug: 'pinned', skills: ['there', pin] })
    await alice.api.yankVersion(pin)
    const namesIn = async (slug: string) => (await test.api().getPack({ slug })).skills.map(({ name }) => name)
    expect(await namesIn('floating')).toEqual(['there'])
    expect(await namesIn('pinned')).toEqual(['there', 'all-yanked'])
    const { counts, total } = await test.api().getUser({ username: 'alice' })
    expect([counts.skills, total]).toEqual([1, 1])
    expect((await alice.api.getMe()).counts.skills).toBe(1)
  })

  it('find packs ignoring case, in every script', async () => {
    await alice.api.createPack({ name: 'ÜBERSICHT Привет', slug: 'scripts', description: 'ΑΒΓ', skills: [] })
    for (const q of ['übersicht', 'ПРИВЕТ', 'αβγ über', 'U\u0308BER'])
      expect(
        (await test.api().listPacks({ q })).packs.map(({ slug }) => slug),
        q,
      ).toEqual(['scripts'])
    expect((await test.api().listPacks({ q: 'über nothing' })).total).toBe(0)
  })

  it('return a blob only once per batch, however often the batch names it', async () => {
    const { files } = await test.api().getSkill({ name: 'there' })
    const { digest } = files[0]!
    const digests = [digest, `sha256:${'0'.repeat(64)}`, digest]
    const lines = (await textOf(await test.api().batchBlobs({ digests }))).trim().split('\n')
    expect(lines.map((line) => (JSON.parse(line) as { digest: string }).digest)).toEqual(digests.slice(0, 2))
  })

  describe('for a missing skill or user', () => {
    const proof = { method: 'domain', proof: 'example.com' } as const

    it('return not_found, as for a private skill', async () => {
      await alice.api.publishSkill({ skillMd: skillMd('mine'), visibility: 'private' })
      expect(await codeOf(test.api().getReputation({ username: 'unknown-user' }))).toBe('not_found')
      for (const skillName of ['alice/nothing', 'alice/mine'])
        expect(await codeOf(test.api().track({ skillName })), skillName).toBe('not_found')
    })

    it('return 404 if a caller verifies an unknown user, and forbidden if a caller verifies another user', async () => {
      expect(await codeOf(alice.api.verifyAuthor({ username: 'root', ...proof }))).toBe('forbidden')
      expect((await refusalOf(alice.api.verifyAuthor({ username: 'unknown-user', ...proof }))).status).toBe(404)
    })
  })
})

const entry = (seq: number) =>
  JSON.stringify({
    seq,
    type: 'skill',
    at: '2026-01-02T12:00:00.000Z',
    subject: `s${seq}`,
    digest: null,
    data: { long: 'é'.repeat(1_500_000) },
  })

describeMatrix('a page of the feed', (open) => {
  it('ends at a few MiB, and the next page continues', async () => {
    const test = await open()
    const hash = Buffer.alloc(32)
    await partsOf(test.registry).database.writer.write(async (trx) => {
      for (const seq of [1, 2, 3, 4])
        await trx
          .insertInto('log')
          .values({ seq, hash, type: 'skill', at: 0, subject: `s${seq}`, digest: null, entry: entry(seq) })
          .execute()
      await trx.updateTable('heads').set({ log_seq: 4 }).execute()
    })
    const seqs: number[][] = []
    for (let since = 0; since < 4;) {
      const page = await test.api().getFeed({ since, limit: 1000 })
      seqs.push(page.entries.map(({ seq }) => seq))
      expect(page.head).toBe(4)
      since = page.next
    }
    expect(seqs).toEqual([[1], [2], [3], [4]])
    expect(await test.api().getFeed({ since: 4 })).toMatchObject({ entries: [], next: 4, head: 4 })
  })
})
