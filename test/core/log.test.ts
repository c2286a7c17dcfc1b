import { beforeAll, expect, it } from 'vitest'
import { partsOf, proveInclusion, readSignedCheckpoint } from '@skillstead/core/internal'
import { bytesOf, codeOf, fieldsOf, skillMd, textOf } from '../support/answers.ts'
import { describeApi, type TestRegistry, type TestUser } from '../support/harness.ts'
import { naiveLeaf, naivePath, naiveRoot } from '../support/naive-tree.ts'
import { appendMany } from '../support/log-acts.ts'
import { idOf, readCheckpoint, readEntries, readKeys, readRoot } from '../support/signed-log.ts'

describeApi('the transparency log', (open, { transport }) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open({ origin: 'node.example' })
    alice = await test.makeUser('alice')
    for (let i = 0; i < 3; i++) await alice.api.publishSkill({ skillMd: skillMd('logged', { body: `${i}` }) })
    // More than the first tile of the second level, so that there are full tiles, levels and edges.
    await appendMany(test, 600)
    await alice.api.publishSkill({ skillMd: skillMd('after') })
  })

  const get = (path: string, init?: RequestInit) => test.request(`/api/v1${path}`, init)
  const head = async () => (await test.api().getFeed({ limit: 1 })).head
  const checkpoint = async () =>
    readCheckpoint(await textOf(await test.api().getCheckpoint()), await readKeys(test.api()))

  it("returns its key in one line with the node's name", async () => {
    const content = await test.api().getPublicKey()
    expect(content.contentType).toBe('text/plain; charset=utf-8')
    expect(await textOf(content)).toMatch(/^node\.example\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}\n$/)
  })

  it('has a checkpoint with its size and root hash, signed with the published key', async () => {
    const content = await test.api().getCheckpoint()
    expect(content.contentType).toBe('text/plain; charset=utf-8')
    const [vkey] = await readKeys(test.api())
    const size = await head()
    expect(readCheckpoint(await textOf(content), [vkey!])).toEqual({
      origin: 'node.example',
      treeSize: size,
      rootHash: await readRoot(test.api(), size),
      signers: [idOf(vkey!)],
      lines: 1,
      named: [],
      times: [test.clock.now()],
    })
  })

  it('contains the entries of the feed in its bundles, byte for byte', async () => {
    const { entries } = await test.api().getFeed({ limit: 1000 })
    const bundled = await readEntries(test.api(), await head())
    expect(bundled.map((entry) => JSON.parse(entry.toString()) as unknown)).toEqual(entries)
    const rows = await partsOf(test.registry).database.read.selectFrom('log').select('entry').orderBy('seq').execute()
    expect(bundled.map((entry) => entry.toString())).toEqual(rows.map(({ entry }) => entry))
  })

  it('serves the tiles of its entries, at each level and each width', async () => {
    const size = await head()
    const entries = await readEntries(test.api(), size)
    const leaves = entries.map(naiveLeaf)
    const roots = [0, 1].map((n) => naiveRoot(entries.slice(n * 256, (n + 1) * 256)))
    const expected: [string, Buffer[]][] = [
      ['0/000', leaves.slice(0, 256)],
      ['0/001', leaves.slice(256, 512)],
      ['0/000.p/1', leaves.slice(0, 1)],
      ['0/001.p/255', leaves.slice(256, 511)],
      [`0/002.p/${size - 512}`, leaves.slice(512)],
      ['0/002.p/3', leaves.slice(512, 515)],
      ['1/000.p/2', roots],
      ['1/000.p/1', roots.slice(0, 1)],
    ]
    for (const [path, hashes] of expected) {
      const content = await test.api().getTile({ path })
      expect(content.contentType, path).toBe('application/octet-stream')
      expect((await bytesOf(content)).equals(Buffer.concat(hashes)), path).toBe(true)
    }
  })

  it('serves no tile or entry after the end of the tree', async () => {
    const size = await head()
    for (const path of [
      '0/002',
      `0/002.p/${size - 511}`,
      '0/003.p/1',
      '0/x001/000',
      '1/000',
      '1/000.p/3',
      '2/000.p/1',
      '63/000',
      'entries/002',
      'entries/003.p/1',
      'entries/x999/x999/x999/x999/999',
    ]) {
      expect(await codeOf(test.api().getTile({ path })), path).toBe('not_found')
    }
  })

  it.each(['0/1', '0/000.p/256', '64/000', 'entries', '0/x000/001', 'leaves/000', '1'])(
    'refuses %s, which is not a tile path',
    async (path) => {
      expect(await fieldsOf(test.api().getTile({ path }))).toEqual(['path'])
    },
  )

  it('returns proofs of entries for its current and older checkpoints', async () => {
    const { treeSize } = await readSignedCheckpoint(partsOf(test.registry))
    const entries = await readEntries(test.api(), treeSize)
    for (const size of [1, 255, 256, 257, 512, 513, 600, treeSize]) {
      const some = entries.slice(0, size)
      const rootHash = naiveRoot(some).toString('base64')
      for (const index of [0, 1, 254, 255, 256, 511, 512, size - 1].filter((i) => i < size)) {
        expect(await proveInclusion(partsOf(test.registry), index, size)).toEqual({
          index,
          treeSize: size,
          leafHash: naiveLeaf(entries[index]!).toString('base64'),
          rootHash,
          inclusionProof: naivePath(index, some).map((hash) => hash.toString('base64')),
        })
      }
    }
    expect(await codeOf(proveInclusion(partsOf(test.registry), treeSize))).toBe('not_found')
    expect(await codeOf(proveInclusion(partsOf(test.registry), 3, 3))).toBe('not_found')
  })

  it('returns each page of the feed together with a signed tree that includes the page', async () => {
    const vkeys = await readKeys(test.api())
    for (const since of [0, 5, await head()]) {
      const page = await test.api().getFeed({ since, limit: 3 })
      const { treeSize, rootHash, signers } = readCheckpoint(page.checkpoint!, vkeys)
      expect(treeSize).toBe(page.head)
      expect(rootHash).toBe(await readRoot(test.api(), treeSize))
      expect(signers).toEqual([idOf(vkeys[0]!)])
    }
  })

  it('grows only with public changes', async () => {
    const before = await checkpoint()
    const secret = await alice.api.publishSkill({ skillMd: skillMd('secret'), visibility: 'private' })
    await alice.api.publishSkill({ skillMd: skillMd('inner'), visibility: 'internal' })
    expect(await checkpoint()).toEqual(before)
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('open') })
    const after = await checkpoint()
    expect(after.treeSize).toBe(before.treeSize + 1)
    expect(after.rootHash).not.toBe(before.rootHash)
    const text = Buffer.concat(await readEntries(test.api(), after.treeSize)).toString()
    expect(text).toContain(version.digest)
    for (const trace of ['alice/secret', 'alice/inner', secret.version!.digest, secret.skill.id]) {
      expect(text).not.toContain(trace)
    }
  })

  it('has one consistent tree after concurrent publishes', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `burst-${i}`)
    const pages = await Promise.all(
      names.map(async (name) => {
        await alice.api.publishSkill({ skillMd: skillMd(name) })
        return test.api().getFeed({ since: 0, limit: 1 })
      }),
    )
    const entries = await readEntries(test.api(), await head())
    const vkeys = await readKeys(test.api())
    for (const page of pages) {
      const { treeSize, rootHash, signers } = readCheckpoint(page.checkpoint!, vkeys)
      expect({ treeSize, rootHash, signers: signers.length }).toEqual({
        treeSize: page.head,
        rootHash: naiveRoot(entries.slice(0, page.head)).toString('base64'),
        signers: 1,
      })
    }
  })

  it('is public: guests and signed-in users read the same bytes', async () => {
    expect(await textOf(await alice.api.getCheckpoint())).toBe(await textOf(await test.api().getCheckpoint()))
    expect(await bytesOf(await alice.api.getTile({ path: '0/000' }))).toEqual(
      await bytesOf(await test.api().getTile({ path: '0/000' })),
    )
  })

  it.runIf(transport === 'HTTP')('allows permanent caching of tiles, and short caching of checkpoints', async () => {
    for (const path of [
      '/tile/0/000',
      '/tile/0/000.p/7',
      '/tile/1/000.p/1',
      '/tile/entries/000',
      '/tile/entries/000.p/2',
    ]) {
      const answer = await get(path)
      expect(answer.headers.get('cache-control'), path).toBe('public, max-age=31536000, immutable')
      expect(answer.headers.get('content-type')).toBe('application/octet-stream')
      const etag = answer.headers.get('etag')!
      expect((await get(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
    }
    const answer = await get('/checkpoint')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=2')
    expect((await get('/key')).headers.get('cache-control')).toBe('no-cache')
    for (const path of ['/tile/0/005', '/tile/0/5']) {
      expect((await get(path)).headers.get('cache-control'), path).toBe('private, no-store')
    }
    const authorization = { headers: { authorization: `Bearer ${alice.key}` } }
    expect((await get('/tile/0/000', authorization)).headers.get('cache-control')).toBe('private, no-store')
  })
})
