import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { partsOf } from '@skillstead/core/internal'
import { beforeAll, describe, expect, it } from 'vitest'
import { bytesOf, codeOf, fieldsOf, skillMd, textOf } from '../support/answers.ts'
import { toCanonical } from '../support/canonical.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'

describeApi('the feed', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open({ origin: 'node.example' })
    alice = await test.makeUser('alice')
    for (let i = 0; i < 7; i++) await alice.api.publishSkill({ skillMd: skillMd('early', { body: `${i}` }) })
  })

  const head = async () => (await test.api().getFeed({ limit: 1 })).head

  it('is numbered from 1 without gaps, and each page continues after the previous page', async () => {
    const all = await test.api().getFeed({ limit: 1000 })
    expect(all).toMatchObject({
      origin: 'node.example',
      epoch: 1,
      checkpoint: expect.stringMatching(/^node\.example\n7\n/),
    })
    expect(all.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: all.head }, (_, i) => i + 1))
    expect(all.next).toBe(all.head)
    const read = []
    for (let since = 0; since < all.head;) {
      const page = await test.api().getFeed({ since, limit: 2 })
      expect(page.head).toBe(all.head)
      expect(page.next).toBe(page.entries.at(-1)!.seq)
      read.push(...page.entries)
      since = page.next
    }
    expect(read).toEqual(all.entries)
  })

  it('excludes the entry at the cursor, and is empty if the cursor is at or after the newest entry', async () => {
    const end = await head()
    expect((await test.api().getFeed({ since: end - 1 })).entries.map(({ seq }) => seq)).toEqual([end])
    expect(await test.api().getFeed({ since: end })).toMatchObject({ entries: [], next: end, head: end })
    expect(await test.api().getFeed({ since: end + 10 })).toMatchObject({ entries: [], next: end + 10, head: end })
  })

  it('has one entry for each change of the catalogue', async () => {
    const seen: string[] = []
    const note = async (work: () => Promise<unknown>) => {
      const since = await head()
      await work()
      const { entries } = await test.api().getFeed({ since })
      seen.push(entries.map(({ type, subject }) => `${type} ${subject}`).join(' + '))
    }
    const bob = await test.makeUser('bob')
    const name = 'changing'
    await note(() => alice.api.publishSkill({ skillMd: skillMd(name) }))
    await note(() => alice.api.publishSkill({ skillMd: skillMd(name) }))
    await note(() => alice.api.publishSkill({ skillMd: skillMd(name, { body: 'Two.' }) }))
    await note(() => alice.api.publishSkill({ name, category: 'C', deprecated: true }))
    await note(() => alice.api.publishSkill({ name, category: 'C' }))
    await note(() => alice.api.yankVersion({ name, version: '1.0.1' }))
    await note(() => alice.api.unyankVersion({ name, version: '1.0.1' }))
    await note(() => bob.api.starSkill({ name }))
    await note(() => bob.api.followUser({ username: 'alice' }))
    await note(() => bob.api.forkSkill({ name, newName: 'changing-fork' }))
    await note(() => alice.api.deleteSkill({ name }))
    expect(seen).toEqual([
      'version alice/changing@1.0.0',
      '',
      'version alice/changing@1.0.1',
      'skill alice/changing',
      '',
      'yank alice/changing@1.0.1',
      'yank alice/changing@1.0.1',
      '',
      '',
      'version bob/changing-fork@1.0.1',
      'withdrawn alice/changing',
    ])
  })

  it('contains what a mirror needs of a version, including the holder of the short name', async () => {
    const since = await head()
    const files = [{ path: 'a.txt', content: 'A' }]
    const { version, skill } = await alice.api.publishSkill({
      skillMd: skillMd('needed'),
      files,
      changelog: 'New.',
      category: 'X',
    })
    const [entry] = (await test.api().getFeed({ since })).entries
    expect(entry).toMatchObject({ type: 'version', subject: 'alice/needed@1.0.0', digest: version.digest })
    expect(entry!.data).toMatchObject({
      skill: {
        id: skill.id,
        name: 'needed',
        fullName: 'alice/needed',
      },
      owner: { username: 'alice' },
      holder: true,
      version: '1.0.0',
      publishedAt: version.publishedAt,
      changelog: 'New.',
      category: 'X',
      files: version.files,
      description: skill.description,
      portable: true,
      yanked: false,
      deprecated: false,
      forkedFrom: null,
    })
    const carol = await test.makeUser('carol')
    await carol.api.publishSkill({ skillMd: skillMd('needed') })
    expect((await test.api().getFeed({ since })).entries[1]!.data).toMatchObject({ holder: false })
  })

  it('contains canonical JSON (RFC 8785), byte for byte as stored', async () => {
    await alice.api.publishSkill({
      skillMd: skillMd('canonical', { description: 'Ünïcode 中文 "quoted" \\ / \u2028 end.' }),
    })
    const rows = await partsOf(test.registry).database.read.selectFrom('log').selectAll().orderBy('seq').execute()
    const { entries } = await test.api().getFeed({ limit: 1000 })
    expect(rows.map(({ entry }) => entry)).toEqual(entries.map((entry) => toCanonical(entry)))
    expect(rows.map(({ seq }) => seq)).toEqual(entries.map(({ seq }) => seq))
    for (const { entry } of rows) expect(entry).toBe(toCanonical(JSON.parse(entry)))
  })

  it('contains no secret, and no personal data except ids and usernames', async () => {
    await alice.api.updateMe({ displayName: 'Alice Liddell' })
    await alice.api.publishSkill({ skillMd: skillMd('personal') })
    const text = JSON.stringify(await test.api().getFeed({ limit: 1000 }))
    for (const trace of [
      'Liddell',
      alice.key,
      alice.key.slice(0, 8),
      'apiKey',
      'avatar',
      'email',
      'displayName":"Alice',
    ]) {
      expect(text).not.toContain(trace)
    }
    expect(text).not.toMatch(/[\w.+-]+@[\w-]+\.[a-z]{2,}/)
  })

  it('numbers concurrent writes without a gap', async () => {
    const since = await head()
    const names = Array.from({ length: 30 }, (_, i) => `burst-${i}`)
    await Promise.all(names.map((name) => alice.api.publishSkill({ skillMd: skillMd(name) })))
    const { entries } = await test.api().getFeed({ since })
    expect(entries.map(({ seq }) => seq)).toEqual(names.map((_, i) => since + 1 + i))
    expect(new Set(entries.map(({ subject }) => subject)).size).toBe(30)
  })

  describe('a long poll', () => {
    it('is answered by the next publish', async () => {
      const since = await head()
      const waiting = test.api().getFeed({ since, wait: 15 })
      await setTimeout(100)
      await alice.api.publishSkill({ skillMd: skillMd(`waited-for-${since}`) })
      const { entries } = await waiting
      expect(entries.map(({ subject }) => subject)).toEqual([`alice/waited-for-${since}@1.0.0`])
    })

    it('does not end when a private skill changes', async () => {
      const since = await head()
      const waiting = test.api().getFeed({ since, wait: 1 })
      await alice.api.publishSkill({ skillMd: skillMd(`unseen-${since}`), visibility: 'private' })
      expect(await waiting).toMatchObject({ entries: [], next: since })
    })

    it('ends when the registry closes', async () => {
      const other = await open()
      const waiting = codeOf(other.api().getFeed({ wait: 30 }))
      await setTimeout(100)
      await other.registry.close()
      expect(await waiting).toBe('shutting_down')
    })
  })

  it.each([
    ['limit', { limit: 1001 }],
    ['wait', { wait: 31 }],
    ['since', { since: -1 }],
    ['since', { since: 'x' }],
  ])('refuses an invalid %s by name', async (field, query) => {
    expect(await fieldsOf(test.api().getFeed(query as never))).toEqual([field])
  })

  describe('blobs', () => {
    it('are served for the files of public versions, under the SHA-256 of their bytes', async () => {
      const bytes = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 251))
      const files = [{ path: 'b.bin', content: bytes.toString('base64'), encoding: 'base64' as const }]
      const { version } = await alice.api.publishSkill({ skillMd: skillMd('blobbed'), files })
      for (const { digest, size } of version.files) {
        const blob = await bytesOf(await test.api().getBlob({ digest }))
        expect({ size: blob.length, digest: `sha256:${createHash('sha256').update(blob).digest('hex')}` }).toEqual({
          size,
          digest,
        })
      }
      await alice.api.yankVersion({ name: 'blobbed', version: '1.0.0' })
      expect(await bytesOf(await test.api().getBlob({ digest: version.files[1]!.digest }))).toEqual(bytes)
      for (const digest of ['x', `sha256:${'0'.repeat(64)}`]) {
        expect(await codeOf(test.api().getBlob({ digest }))).toBe('not_found')
      }
    })

    it('are served in batches, in the requested order, and missing blobs are marked', async () => {
      const { version } = await alice.api.publishSkill({
        skillMd: skillMd('batched'),
        files: [{ path: 'a', content: '' }],
      })
      const missing = `sha256:${'1'.repeat(64)}`
      const digests = [version.files[1]!.digest, missing, version.files[0]!.digest]
      const text = await textOf(await test.api().batchBlobs({ digests }))
      expect(text.endsWith('\n')).toBe(true)
      const lines = text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
      expect(lines).toEqual([
        { digest: digests[0], size: 0, content: '' },
        { digest: missing, missing: true },
        {
          digest: digests[2],
          size: version.files[0]!.size,
          content: Buffer.from(skillMd('batched')).toString('base64'),
        },
      ])
      expect(await fieldsOf(test.api().batchBlobs({ digests: [] }))).toEqual(['digests'])
      expect(await fieldsOf(test.api().batchBlobs({ digests: Array(1001).fill(missing) }))).toEqual(['digests'])
    })
  })
})
