import { verifyProvenance } from '@skillstead/client/verify'
import { partsOf, rotateKey } from '@skillstead/core/internal'
import type { RegistryError } from '@skillstead/protocol'
import { beforeAll, describe, expect, it } from 'vitest'
import { addCollaborator } from '../support/collaboration.ts'
import { codeOf, skillMd } from '../support/answers.ts'
import { makeCase } from '../support/dmca-cases.ts'
import { describeApi, startMs, type TestRegistry, type TestUser } from '../support/harness.ts'
import { readKeys } from '../support/signed-log.ts'

const dayMs = 24 * 60 * 60 * 1000

const publish = (user: TestUser, name: string, body = 'One.', more: object = {}) =>
  user.api.publishSkill({ skillMd: skillMd(name, { body }), ...more })
const isGood = (record: object, ...keys: string[]) => verifyProvenance(record, { keys }).ok
/** The short form of a key in messages. */
const idOf = (vkey: string) => vkey.split('+').slice(0, 2).join('+')

describeApi('provenance', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  let bob: TestUser
  beforeAll(async () => {
    test = await open({ origin: 'node.example' })
    alice = await test.makeUser('alice')
    bob = await test.makeUser('bob')
  })

  const read = (name: string, api = test.api(), version?: string) => api.getProvenance({ name, version })
  const verify = async (record: unknown) => verifyProvenance(record, { keys: await readKeys(test.api()) })
  const chainOf = async (name: string, api = test.api()) =>
    (await read(name, api)).forkChain.map(({ fullName, version }) => `${fullName}@${version}`)

  describe('of a public version', () => {
    it('shows who published it and when, and proves that the log contains it', async () => {
      const { skill, version } = await publish(alice, 'tea')
      const record = await read('tea')
      const { log, signature, ...said } = record
      expect(said).toEqual({
        skill: { id: skill.id, fullName: 'alice/tea' },
        version: '1.0.0',
        digest: version.digest,
        publisher: version.publisher,
        publishedAt: '2026-01-02T12:00:00.000Z',
        firstPublishedAt: '2026-01-02T12:00:00.000Z',
        authorVerified: [],
        forkChain: [],
        origin: { kind: 'local', upstream: null, syncedAt: null },
      })
      const { entries, head } = await test.api().getFeed({ limit: 1000 })
      expect(log).toMatchObject({ origin: 'node.example', treeSize: head })
      expect(JSON.parse(log!.entry)).toEqual(entries[log!.index])
      expect(signature).toMatch(/^\u2014 node\.example \S+\n$/)
      expect(await verify(record)).toMatchObject({ ok: true, problems: [], entry: { subject: 'alice/tea@1.0.0' } })
    })

    it('describes the latest version by default, or the requested one, even if it is yanked', async () => {
      await publish(alice, 'many')
      test.clock.advance(1000)
      await publish(alice, 'many', 'Two.')
      await alice.api.yankVersion({ name: 'many', version: '1.0.0' })
      expect(await read('many')).toMatchObject({
        version: '1.0.1',
        publishedAt: new Date(startMs + 1000).toISOString(),
        firstPublishedAt: new Date(startMs).toISOString(),
      })
      const yanked = await read('alice/many', test.api(), '1.0.0')
      expect(yanked.version).toBe('1.0.0')
      expect((await verify(yanked)).ok).toBe(true)
      expect(await codeOf(read('many', test.api(), '3.0.0'))).toBe('not_found')
      await alice.api.yankVersion({ name: 'many', version: '1.0.1' })
      expect(await codeOf(read('many'))).toBe('not_found')
    })

    it('names the publisher of the version, who may not be the owner, and how the owner was verified', async () => {
      const carol = await test.makeUser('carol')
      await publish(alice, 'joint')
      await addCollaborator(test, alice, { name: 'joint', username: 'carol', role: 'write' })
      await carol.api.publishSkill({ skillMd: skillMd('joint', { body: 'Two.' }), name: 'alice/joint' })
      const { id } = await alice.api.verifyAuthor({ username: 'alice', method: 'manual', proof: 'It is me.' })
      expect((await read('joint')).authorVerified).toEqual([])
      await test.admin.api.decideVerification({ id, status: 'verified' })
      const record = await read('joint')
      expect(record).toMatchObject({ publisher: { username: 'carol' }, authorVerified: ['manual'] })
      expect((await verify(record)).ok).toBe(true)
      expect((await read('joint', test.api(), '1.0.0')).publisher.username).toBe('alice')
    })

    it('can be verified at every size of the log', async () => {
      await publish(alice, 'grown')
      for (let i = 0; i < 20; i++) {
        await publish(bob, 'growing', `${i}`)
        expect((await verify(await read('grown'))).ok).toBe(true)
        expect((await verify(await read('growing'))).ok).toBe(true)
      }
    })

    it('is valid even if its file list is too long for a log entry', async () => {
      const files = Array.from({ length: 500 }, (_, i) => ({ path: `${i}-${'x'.repeat(120)}.txt`, content: `${i}` }))
      await publish(alice, 'large', 'One.', { files })
      const record = await read('large')
      const content = [
        { path: 'SKILL.md', bytes: Buffer.from(skillMd('large', { body: 'One.' })) },
        ...files.map((file) => ({ path: file.path, bytes: Buffer.from(file.content) })),
      ]
      const keys = await readKeys(test.api())
      expect(verifyProvenance(record, { keys, content })).toMatchObject({ ok: true, entry: { data: { files: null } } })
      const { problems } = verifyProvenance(record, { keys, content: content.slice(1) })
      expect(problems.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^The content has the digest sha256:\w+, not sha256:\w+\.$/),
      ])
    })

    it('follows the skill to a new owner, under the new name', async () => {
      const { skill } = await publish(alice, 'moved')
      const before = await read('alice/moved')
      await alice.api.transferSkill({ name: 'moved', newOwner: 'bob' })
      await bob.api.acceptTransfer({ name: 'alice/moved' })
      const after = await read('alice/moved')
      expect(after).toMatchObject({ skill: { id: skill.id, fullName: 'bob/moved' }, publisher: { username: 'alice' } })
      expect(await verify(after)).toMatchObject({ ok: true, entry: { subject: 'bob/moved@1.0.0' } })
      expect(await verify(before)).toMatchObject({ ok: true, entry: { subject: 'alice/moved@1.0.0' } })
      await bob.api.transferSkill({ name: 'bob/moved', newOwner: 'alice' })
      await alice.api.acceptTransfer({ name: 'bob/moved' })
      const back = await read('bob/moved')
      expect(back.log!.index).toBeGreaterThan(after.log!.index)
      expect(await verify(back)).toMatchObject({ ok: true, entry: { subject: 'alice/moved@1.0.0' } })
    })
  })

  describe('of a version that is not public', () => {
    it.each(['private', 'internal'] as const)(
      'is a signed record without a log entry if the version is %s',
      async (visibility) => {
        const name = `kept-${visibility}`
        await publish(alice, name, 'One.', { visibility })
        const record = await read(name, alice.api)
        expect(record.log).toBeNull()
        expect(await verify(record)).toMatchObject({ ok: true, entry: null })
        const logged = await read('tea')
        for (const swapped of [
          { ...record, log: logged.log },
          { ...logged, log: null },
        ])
          expect((await verify(swapped)).problems[0]?.part).toBe('signature')
        expect(JSON.stringify(await test.api().getFeed({ limit: 1000 }))).not.toContain(name)
        expect(await codeOf(read(`alice/${name}`))).toBe('not_found')
        const toBob = await read(`alice/${name}`, bob.api).then(
          ({ log }) => log,
          (error: RegistryError) => error.code,
        )
        expect(toBob).toBe(visibility === 'private' ? 'not_found' : null)
      },
    )

    it('has a log entry once the version is public, also if it becomes public a second time', async () => {
      await publish(alice, 'late', 'One.', { visibility: 'private' })
      await publish(alice, 'late', 'Two.')
      await alice.api.publishSkill({ name: 'late', visibility: 'public' })
      const first = await read('late', test.api(), '1.0.0')
      expect((await verify(first)).ok).toBe(true)
      await alice.api.publishSkill({ name: 'late', visibility: 'private' })
      expect((await read('late', alice.api)).log).toBeNull()
      await alice.api.publishSkill({ name: 'late', visibility: 'public' })
      const second = await read('late', test.api(), '1.0.0')
      expect(second.log!.index).toBeGreaterThan(first.log!.index)
      expect((await verify(second)).ok).toBe(true)
    })

    it('is shown only to the owner if the version is hidden, and to no one under a takedown', async () => {
      await publish(alice, 'hidden')
      await test.admin.api.moderateSkill({ name: 'alice/hidden', state: 'hidden', reason: 'A look first.' })
      expect(await codeOf(read('alice/hidden'))).toBe('not_found')
      expect((await read('alice/hidden', alice.api)).log).toBeNull()
      await publish(alice, 'claimed')
      await makeCase(test, 'alice/claimed', alice, 'removed')
      expect(await codeOf(read('alice/claimed'))).toBe('taken_down')
      expect(await codeOf(read('alice/claimed', alice.api))).toBe('taken_down')
      await alice.api.deleteSkill({ name: 'alice/hidden' })
      expect(await codeOf(read('alice/hidden', alice.api))).toBe('not_found')
    })
  })

  describe('of a fork', () => {
    it('lists its sources, nearest first, each with its digest', async () => {
      const { version } = await publish(alice, 'root-skill')
      const carol = await test.makeUser()
      await bob.api.forkSkill({ name: 'alice/root-skill', newName: 'branch' })
      await bob.api.publishSkill({ skillMd: skillMd('branch', { body: 'Two.' }) })
      await carol.api.forkSkill({ name: 'bob/branch', newName: 'twig' })
      const record = await read(`${carol.username}/twig`)
      const branch = await test.api().getVersion({ name: 'bob/branch', version: '1.0.1' })
      expect(record.forkChain).toEqual([
        { fullName: 'bob/branch', version: '1.0.1', digest: branch.digest },
        { fullName: 'alice/root-skill', version: '1.0.0', digest: version.digest },
      ])
      expect((await verify(record)).ok).toBe(true)
    })

    it('omits sources that the caller may not see', async () => {
      const carol = await test.makeUser()
      await publish(alice, 'seen')
      await bob.api.forkSkill({ name: 'alice/seen', newName: 'unseen' })
      await carol.api.forkSkill({ name: 'bob/unseen', newName: 'leaf' })
      const leaf = `${carol.username}/leaf`
      expect(await chainOf(leaf)).toEqual(['bob/unseen@1.0.0', 'alice/seen@1.0.0'])
      await bob.api.publishSkill({ name: 'unseen', visibility: 'private' })
      expect(await chainOf(leaf)).toEqual(['alice/seen@1.0.0'])
      expect(await chainOf(leaf, carol.api)).toEqual(['alice/seen@1.0.0'])
      expect(await chainOf(leaf, bob.api)).toEqual(['bob/unseen@1.0.0', 'alice/seen@1.0.0'])
      await alice.api.deleteSkill({ name: 'alice/seen' })
      expect(await chainOf(leaf)).toEqual([])
      expect((await verify(await read(leaf, bob.api))).ok).toBe(true)
    })

    it('ends if the names of the sources form a cycle', async () => {
      const dora = await test.makeUser()
      await publish(alice, 'circle')
      await dora.api.forkSkill({ name: 'alice/circle' })
      const source = { forked_from: `${dora.username}/circle`, forked_from_version: '1.0.0' }
      await partsOf(test.registry).database.writer.write((trx) =>
        trx.updateTable('skills').set(source).where('full_name', '=', 'alice/circle').execute(),
      )
      expect(await chainOf(`${dora.username}/circle`)).toEqual(['alice/circle@1.0.0'])
    })
  })

  describe('during a key rotation', () => {
    it('is signed by both keys during the overlap, and old records stay valid', async () => {
      const other = await open({ origin: 'turning.example' })
      const owner = await other.makeUser('owner')
      await publish(owner, 'lasting')
      const keysNow = () => readKeys(other.api())
      const readNow = () => other.api().getProvenance({ name: 'lasting' })
      const [first] = (await keysNow()) as [string]
      const old = await readNow()
      await rotateKey(partsOf(other.registry))
      const [second, before] = (await keysNow()) as [string, string]
      expect(before).toBe(first)
      const during = await readNow()
      expect(during.signature.split('\n')).toHaveLength(3)
      expect([isGood(old, first), isGood(old, second), isGood(old, first, second)]).toEqual([true, false, true])
      expect([isGood(during, first), isGood(during, second), isGood(during, first, second)]).toEqual([true, true, true])
      other.clock.advance(31 * dayMs)
      expect(await keysNow()).toEqual([second])
      const after = await readNow()
      expect([isGood(after, first), isGood(after, second), isGood(old, first)]).toEqual([false, true, true])
      const { problems } = verifyProvenance(after, { keys: [first] })
      expect(problems.map(({ part, message }) => [part, message])).toEqual([
        [
          'signature',
          `The signature of the record is by the key ${idOf(second)}, which is not among the given keys: ${idOf(first)}.`,
        ],
        [
          'checkpoint',
          `The signature of the checkpoint is by the key ${idOf(second)}, which is not among the given keys: ${idOf(first)}.`,
        ],
      ])
    })
  })

  it.runIf(transport === 'HTTP')(
    'varies by the Authorization header in caches, and private records are not cached',
    async () => {
      await publish(alice, 'cached')
      await publish(alice, 'uncached', 'One.', { visibility: 'private' })
      const authorization = `Bearer ${alice.key}`
      const shown = await test.request('/api/v1/skills/cached/provenance')
      expect(shown.headers.get('vary')).toContain('Authorization')
      const closed = await test.request('/api/v1/skills/alice%2Funcached/provenance', { headers: { authorization } })
      expect([closed.status, closed.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
    },
  )
})
