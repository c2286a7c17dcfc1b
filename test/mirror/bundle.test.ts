import { readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { partsOf } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { createBundle, inspectBundle, verifyBundle } from '@skillstead/mirror'
import { expect, it } from 'vitest'
import { refusalOf, skillMd } from '../support/answers.ts'
import { makeFile, openPublisher, readHeader, readParts } from '../support/bundle-acts.ts'
import { describeInTurn } from '../support/harness.ts'

describeInTurn('a bundle', (open) => {
  it('is a tar archive with a signed header, the log, and the content that the log refers to', async () => {
    const { registry, publish } = await openPublisher(open)
    await publish('tea')
    await publish('cake', '1.0.0', { files: [{ path: 'scripts/bake.sh', content: 'echo baking\n' }] })
    const file = await makeFile()
    const { header, size, digest } = await createBundle(registry, file)
    const bytes = await readFile(file)
    expect({ size, digest }).toEqual({ size: bytes.length, digest: toDigest(bytes) })
    const parts = await readParts(file)
    expect(parts.map(({ name }) => name.replace(/[0-9a-f]{64}/, 'DIGEST'))).toEqual([
      'bundle.json',
      'bundle.sig',
      'log/1.ndjson',
      'blobs/DIGEST',
      'blobs/DIGEST',
      'blobs/DIGEST',
    ])
    for (const { name, bytes: content } of parts.slice(3)) {
      expect(toDigest(content)).toBe(`sha256:${name.slice('blobs/'.length)}`)
    }
    expect(readHeader(parts)).toEqual(header)
    expect(header).toMatchObject({
      format: 'skillstead-bundle',
      version: 1,
      origin: 'origin.example',
      since: 0,
      until: 2,
      frontier: [],
      filters: {},
      createdAt: '2026-01-02T12:00:00.000Z',
      counts: { entries: 2, versions: 2, complete: 2, blobs: 3 },
    })
    expect((await inspectBundle(file)).header).toEqual(header)
  })

  it('leaves out the content of quarantined versions', async () => {
    const { registry, publish } = await openPublisher(open)
    await publish('tea')
    await publish('cake')
    const readVersion = partsOf(registry)
      .database.read.selectFrom('versions')
      .innerJoin('skills', 'skills.id', 'versions.skill_id')
      .select('versions.id')
      .where('skills.name', '=', 'tea')
    const { id } = await readVersion.executeTakeFirstOrThrow()
    // Stored before paths of git were refused.
    const file = { version_id: id, path: '.git/config', digest: `sha256:${'0'.repeat(64)}`, size: 1 }
    await partsOf(registry).database.writer.write((trx) => trx.insertInto('version_files').values(file).execute())
    const { header } = await createBundle(registry, await makeFile())
    expect(header.counts).toMatchObject({ entries: 2, versions: 2, complete: 1, blobs: 1 })
  })

  it('can be verified only with the key of the node that created it', async () => {
    const { registry, publish, key } = await openPublisher(open)
    const other = await openPublisher(open)
    await publish('tea')
    const file = await makeFile()
    await createBundle(registry, file)
    expect(await verifyBundle(file, { keys: [key] })).toMatchObject({
      isTrusted: true,
      signers: [{ name: 'origin.example' }],
      signedAt: Date.UTC(2026, 0, 2, 12),
    })
    expect(await verifyBundle(file)).toMatchObject({ isTrusted: false })
    const { message } = await refusalOf(verifyBundle(file, { keys: [other.key] }))
    expect(message).toMatch(
      /^The signature of the bundle is by the key origin\.example\+[0-9a-f]{8}, which is not among the given keys: .* --key\.$/,
    )
  })

  it('contains only the log entries after a requested position, and proves that these entries continue the log', async () => {
    const { registry, publish, key } = await openPublisher(open)
    for (const name of ['tea', 'cake', 'jam', 'milk', 'rye']) await publish(name)
    for (const since of [1, 3, 4, 5]) {
      const file = await makeFile()
      const { header } = await createBundle(registry, file, { since })
      expect(header.counts).toMatchObject({ entries: 5 - since, complete: 5 - since, blobs: 5 - since })
      expect(await verifyBundle(file, { keys: [key] })).toMatchObject({ header: { since, until: 5 } })
    }
    const { message } = await refusalOf(createBundle(registry, await makeFile(), { since: 6 }))
    expect(message).toBe('The log of this node has only 5 entries, so there are none after 6.')
  })

  it('omits content that the filters exclude, but contains all log entries', async () => {
    const { registry, publish, key } = await openPublisher(open)
    await publish('tea', '1.0.0', { license: 'MIT' })
    await publish('cake', '1.0.0', { license: 'GPL-3.0' })
    await publish('loaf', '1.0.0', { license: 'MIT', body: 'x'.repeat(5000) })
    const file = await makeFile()
    const { header } = await createBundle(registry, file, { filters: { licenses: ['MIT'], sizeMax: 4000 } })
    expect(header).toMatchObject({
      filters: { licenses: ['MIT'], sizeMax: 4000 },
      counts: { entries: 3, versions: 3, complete: 1, blobs: 1 },
    })
    expect(await verifyBundle(file, { keys: [key] })).toMatchObject({ isTrusted: true })
    const text = Buffer.concat((await readParts(file)).map(({ bytes }) => bytes)).toString()
    expect(text).toContain('alice/cake@1.0.0')
    expect(text).not.toContain('# cake')
  })

  it('contains no private skills, and no content of removed skills', async () => {
    const { registry, publish, alice, key } = await openPublisher(open)
    await publish('tea')
    await alice.api.publishSkill({ skillMd: skillMd('diary', { body: 'My secret.' }), visibility: 'private' })
    await publish('jam', '1.0.0', { body: 'Withdrawn jam.' })
    await alice.api.deleteSkill({ name: 'alice/jam' })
    const file = await makeFile()
    const { header } = await createBundle(registry, file)
    expect(header.counts).toMatchObject({ versions: 2, complete: 1, blobs: 1 })
    const text = Buffer.concat((await readParts(file)).map(({ bytes }) => bytes)).toString()
    expect(text).not.toMatch(/diary|My secret|Withdrawn jam/)
    expect(await verifyBundle(file, { keys: [key] })).toMatchObject({ isTrusted: true })
  })

  it('contains the file list of a version if the list is too long for the log entry', async () => {
    const { registry, alice, key } = await openPublisher(open)
    const files = Array.from({ length: 500 }, (_, i) => ({
      path: `references/${'long-'.repeat(20)}${i}.md`,
      content: `${i}`,
    }))
    await alice.api.publishSkill({ skillMd: skillMd('book'), files })
    const file = await makeFile()
    const { header } = await createBundle(registry, file)
    expect(header.counts).toMatchObject({ versions: 1, complete: 1, blobs: 502 })
    expect(await verifyBundle(file, { keys: [key] })).toMatchObject({ isTrusted: true })
  })

  it('contains one consistent state of the registry, even if the registry changes meanwhile', async () => {
    const { registry, publish, key } = await openPublisher(open)
    for (let i = 0; i < 30; i += 1) await publish(`tea-${i}`)
    const file = await makeFile()
    const making = createBundle(registry, file)
    for (let i = 0; i < 10; i += 1) await publish(`cake-${i}`)
    const { header } = await making
    expect(header.counts).toMatchObject({ entries: header.until, complete: header.until, blobs: header.until })
    expect(await verifyBundle(file, { keys: [key] })).toMatchObject({ isTrusted: true })
  })

  it('replaces an existing file only on request', async () => {
    const { registry, publish } = await openPublisher(open)
    await publish('tea')
    const file = await makeFile()
    await writeFile(file, 'The only copy of something.')
    const { code, message } = await refusalOf(createBundle(registry, file))
    expect(code).toBe('conflict')
    expect(message).toBe(`${file} already exists. Choose another name, or pass --force to replace it.`)
    expect(await readFile(file, 'utf8')).toBe('The only copy of something.')
    await createBundle(registry, file, { overwrite: true })
    expect(await verifyBundle(file)).toMatchObject({ header: { until: 1 } })
    expect(await readdir(dirname(file))).toEqual(['skills.bundle'])
  })

  it('deletes abandoned temporary files of earlier bundles with the same name, but no files in use', async () => {
    const { registry, publish } = await openPublisher(open)
    await publish('tea')
    const file = await makeFile()
    const yesterday = new Date(Date.now() - 24 * 60 * 60 * 1000)
    const old = ['skills.bundle.0a1b2c3d.partial', 'skills.bundle.txt', 'other.bundle.0a1b2c3d.partial']
    for (const name of [...old, 'skills.bundle.00000000.partial']) await writeFile(join(dirname(file), name), 'begun')
    for (const name of old) await utimes(join(dirname(file), name), yesterday, yesterday)
    await createBundle(registry, file)
    expect((await readdir(dirname(file))).toSorted()).toEqual([
      'other.bundle.0a1b2c3d.partial',
      'skills.bundle',
      'skills.bundle.00000000.partial',
      'skills.bundle.txt',
    ])
  })

  it('is written completely or not at all', async () => {
    const { registry, publish } = await openPublisher(open)
    await publish('tea')
    const file = await makeFile()
    const { message } = await refusalOf(createBundle(registry, `${dirname(file)}/none/skills.bundle`))
    expect(message).toBe(`The folder ${dirname(file)}/none does not exist.`)
    const stopped = createBundle(registry, file, { signal: AbortSignal.abort() })
    await expect(stopped).rejects.toThrow(/abort/i)
    expect(await readdir(dirname(file))).toEqual([])
  })
})
