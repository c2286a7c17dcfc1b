import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf, proveInclusion } from '@skillstead/core/internal'
import { checkRegistry } from '@skillstead/maintenance'
import { checkLog } from '../../packages/maintenance/src/doctor/check-log.ts'
import { bytesOf, codeOf, skillMd, textOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { appendAtOnce, appendMany } from '../support/log-acts.ts'
import { naiveLeaf, naiveRoot } from '../support/naive-tree.ts'
import { readCheckpoint, readEntries, readKeys, readRoot } from '../support/signed-log.ts'
import { openRegistry } from '../support/open-registry.ts'

describeDatabases('the log of a cluster', (open) => {
  it('has one key and one checkpoint on every node', async () => {
    const one = await open({ origin: 'cluster.example' })
    const alice = await one.makeUser('alice')
    const two = await open({ at: one.location, origin: 'cluster.example', clock: one.clock })
    expect(await readKeys(two.api())).toEqual(await readKeys(one.api()))
    for (const [i, name] of ['first', 'second', 'third'].entries()) {
      await alice.api.publishSkill({ skillMd: skillMd(name) })
      const text = await textOf(await two.api().getCheckpoint())
      expect(text).toBe(await textOf(await one.api().getCheckpoint()))
      expect(readCheckpoint(text, await readKeys(two.api()))).toMatchObject({ treeSize: i + 1, lines: 1 })
    }
  })

  it('has one key if several nodes start at the same moment', async () => {
    const place = await open({ empty: true })
    const { location } = place
    await partsOf(place.registry).database.writer.write((trx) => trx.deleteFrom('signing_keys').execute())
    const nodes = await Promise.all([1, 2, 3].map(() => openRegistry({ ...location, origin: 'same.example' })))
    const keys = await Promise.all(nodes.map((node) => readKeys(localApi(node))))
    for (const node of nodes) await node.close()
    expect(keys[0]).toHaveLength(1)
    expect(new Set(keys.flat()).size).toBe(1)
  })

  it('contains the entries of two nodes that append concurrently', async () => {
    const one = await open()
    const two = await open({ at: one.location, clock: one.clock })
    await Promise.all([appendMany(one, 300), appendMany(two, 300)])
    const { head } = await one.api().getFeed()
    expect(head).toBe(600)
    const { rootHash } = readCheckpoint(await textOf(await two.api().getCheckpoint()), await readKeys(one.api()))
    expect(rootHash).toBe(await readRoot(one.api(), head))
    expect(await checkLog(partsOf(one.registry))).toMatchObject({ ok: true })
  })
})

describeDatabases('the log of a node', (open) => {
  it('continues with its key and tree after a restart', async () => {
    const before = await open({ origin: 'again.example' })
    await appendMany(before, 300)
    const checkpoint = await textOf(await before.api().getCheckpoint())
    const after = await open({ at: before.location, origin: 'again.example', clock: before.clock })
    expect(await textOf(await after.api().getCheckpoint())).toBe(checkpoint)
    await appendMany(after, 300)
    const { treeSize, rootHash } = readCheckpoint(
      await textOf(await after.api().getCheckpoint()),
      await readKeys(after.api()),
    )
    expect(treeSize).toBe(600)
    expect(rootHash).toBe(await readRoot(after.api(), 600))
  })

  it('keeps its checkpoint after a transaction that fails', async () => {
    const test = await open()
    await appendMany(test, 3)
    const checkpoint = await textOf(await test.api().getCheckpoint())
    const failing = partsOf(test.registry).database.writer.write(async (trx) => {
      await trx
        .updateTable('heads')
        .set({ log_seq: 9, frontier: Buffer.alloc(64) })
        .execute()
      throw new Error('No.')
    })
    await expect(failing).rejects.toThrow('No.')
    expect(await textOf(await test.api().getCheckpoint())).toBe(checkpoint)
  })
})

describeDatabases('long lists in the log', (open) => {
  let test: TestRegistry
  let alice: TestUser
  beforeAll(async () => {
    test = await open()
    alice = await test.makeUser('alice')
  })
  const last = async () => {
    const { head } = await test.api().getFeed({ limit: 1 })
    return (await test.api().getFeed({ since: head - 1 })).entries[0]!
  }

  it('of files are left out of the log entry, and can be read by the digest of the version', async () => {
    const files = Array.from({ length: 511 }, (_, i) => ({ path: `${i}-`.padEnd(255, 'p'), content: `${i}` }))
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('wide'), files })
    const entry = await last()
    expect(entry).toMatchObject({ digest: version.digest, data: { files: null, cut: ['files'] } })
    const list = await textOf(await test.api().getBlob({ digest: version.digest }))
    expect(list).toBe(version.files.map(({ path, size, digest }) => `${digest} ${size} ${path}\n`).join(''))
    const { head } = await test.api().getFeed({ limit: 1 })
    const bundled = (await readEntries(test.api(), head)).at(-1)!
    expect(JSON.parse(bundled.toString())).toEqual(entry)
  })

  it('are public only if the version is public', async () => {
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('hidden-list'), visibility: 'private' })
    expect(await codeOf(test.api().getBlob({ digest: version!.digest }))).toBe('not_found')
    expect(await textOf(await test.api().batchBlobs({ digests: [version!.digest] }))).toContain('"missing":true')
    await alice.api.publishSkill({ name: 'hidden-list', visibility: 'public' })
    const bytes = await bytesOf(await test.api().getBlob({ digest: version!.digest }))
    expect(await textOf(await test.api().batchBlobs({ digests: [version!.digest] }))).toBe(
      `${JSON.stringify({ digest: version!.digest, size: bytes.length, content: bytes.toString('base64') })}\n`,
    )
  })

  it('are as unavailable as the rest of the version after a takedown', async () => {
    const { version } = await alice.api.publishSkill({ skillMd: skillMd('claimed') })
    await partsOf(test.registry).database.writer.write((trx) =>
      trx.updateTable('skills').set({ state: 'taken_down' }).where('name', '=', 'claimed').execute(),
    )
    expect(await codeOf(test.api().getBlob({ digest: version!.digest }))).toBe('taken_down')
    expect(await textOf(await test.api().batchBlobs({ digests: [version!.digest] }))).toContain('"missing":true')
  })

  it('of the skills in a pack are split into several entries', async () => {
    const note = '中'.repeat(1000)
    const names = Array.from({ length: 30 }, (_, i) => `member-${i}`)
    for (const name of names) await alice.api.publishSkill({ skillMd: skillMd(name) })
    const { head } = await test.api().getFeed({ limit: 1 })
    await alice.api.createPack({ name: 'Long', description: 'Much.', skills: names.map((name) => ({ name, note })) })
    const { entries } = await test.api().getFeed({ since: head })
    expect(entries.map(({ subject, data }) => ({ subject, part: data['part'] }))).toEqual([
      { subject: 'long', part: { number: 1, of: 3 } },
      { subject: 'long', part: { number: 2, of: 3 } },
      { subject: 'long', part: { number: 3, of: 3 } },
    ])
    const skills = entries.flatMap(({ data }) => data['skills'] as { fullName: string; note: string }[])
    expect(skills).toEqual(names.map((name) => ({ fullName: `alice/${name}`, pinnedVersion: null, note })))
  })
})

describeDatabases('a check of the log', (open) => {
  let test: TestRegistry
  beforeAll(async () => {
    test = await open()
    await appendMany(test, 600)
  })

  it('finds no fault in an unaltered log, even while entries are appended', async () => {
    const [check] = await Promise.all([checkLog(partsOf(test.registry)), appendMany(test, 60)])
    expect(check).toMatchObject({ ok: true })
    expect(await checkLog(partsOf(test.registry))).toEqual({
      ok: true,
      detail: '660 entries, none missing, and their Merkle tree is correct.',
    })
    const findings = await checkRegistry(test.registry)
    expect(findings.find(({ name }) => name === 'log')).toMatchObject({ ok: true })
  })

  /** The alterations, as statements that make and revert them, with the expected report. */
  const alterations: [string, string, string, string][] = [
    [
      'an entry',
      `update log set entry = replace(entry, 'made/', 'fake/') where seq = 300`,
      `update log set entry = replace(entry, 'fake/', 'made/') where seq = 300`,
      `The log's entry 300 does not match its hash.`,
    ],
    [
      'a column next to an entry',
      `update log set subject = 'other' where seq = 17`,
      `update log set subject = 'made/entry-16' where seq = 17`,
      `The log's entry 17 does not match the columns of its row.`,
    ],
    [
      'the time next to an entry',
      `update log set at = at + 1 where seq = 17`,
      `update log set at = at - 1 where seq = 17`,
      `The log's entry 17 does not match the columns of its row.`,
    ],
    [
      'a key',
      `update signing_keys set public_key = (select hash from log where seq = 1)`,
      `restore key`,
      `The private and public halves of the log's key 1 do not match.`,
    ],
    [
      'the numbers of entries',
      `update log set seq = 9000 where seq = 660`,
      `update log set seq = 660 where seq = 9000`,
      `The log's entry 660 is missing.`,
    ],
    [
      'the numbers of entries, with one too many',
      `update heads set log_seq = 659`,
      `update heads set log_seq = 660`,
      `The log's head does not match its 659 entries.`,
    ],
    [
      'the root of a tile',
      `update tree_tiles set root = (select hash from log where seq = 1) where n = 1`,
      `restore tile`,
      `The log's tile 0/1 does not match its root.`,
    ],
    [
      'the hashes of a tile',
      `update tree_tiles set hashes = (select hashes from tree_tiles where n = 0) where n = 1`,
      `restore tile`,
      `The log's tile 0/1 does not match the entries below it.`,
    ],
    [
      'the middle level of a tile',
      `update tree_tiles set middle = (select middle from tree_tiles where n = 0) where n = 1`,
      `restore tile`,
      `The log's tile 0/1 does not match its stored middle level.`,
    ],
    [
      'a tile that is not full yet',
      `insert into tree_tiles (level, n, root, middle, hashes) select 0, 2, root, middle, hashes from tree_tiles where n = 1`,
      `delete from tree_tiles where n = 2`,
      `The log has a tile 0/2, but its 660 entries do not fill it.`,
    ],
    [
      'the head',
      `update heads set frontier = (select hash from log where seq = 1)`,
      `restore head`,
      `The log's head does not match its 660 entries.`,
    ],
  ]

  it.each(alterations)('reports %s that was altered', async (_what, alter, restore, problem) => {
    const { database } = partsOf(test.registry)
    const tile = await database.read.selectFrom('tree_tiles').selectAll().where('n', '=', 1).executeTakeFirstOrThrow()
    const { frontier } = await database.read.selectFrom('heads').select('frontier').executeTakeFirstOrThrow()
    const key = await database.read.selectFrom('signing_keys').select('public_key').executeTakeFirstOrThrow()
    const run = (text: string) => database.writer.write((trx) => sql.raw(text).execute(trx))
    await run(alter)
    expect(await checkLog(partsOf(test.registry))).toEqual({ ok: false, detail: `${problem} Restore a backup.` })
    if (restore === 'restore tile') {
      await database.writer.write((trx) => trx.updateTable('tree_tiles').set(tile).where('n', '=', 1).execute())
    } else if (restore === 'restore head') {
      await database.writer.write((trx) => trx.updateTable('heads').set({ frontier }).execute())
    } else if (restore === 'restore key') {
      await database.writer.write((trx) => trx.updateTable('signing_keys').set(key).execute())
    } else {
      await run(restore)
    }
    expect(await checkLog(partsOf(test.registry))).toMatchObject({ ok: true })
  })

  it('reports a missing tile and a missing entry', async () => {
    const other = await open()
    await appendMany(other, 520)
    const { database } = partsOf(other.registry)
    await database.writer.write((trx) => trx.deleteFrom('tree_tiles').where('n', '=', 1).execute())
    expect(await checkLog(partsOf(other.registry))).toMatchObject({
      detail: `The log's tile 0/1 is missing. Restore a backup.`,
    })
    await database.writer.write((trx) => trx.deleteFrom('log').where('seq', '=', 100).execute())
    expect(await checkLog(partsOf(other.registry))).toMatchObject({
      detail: `The log's entry 100 is missing. Restore a backup.`,
    })
  })
})

describe('the empty log', () => {
  it('has the signed root of an empty tree', async () => {
    const registry = await openRegistry({ path: ':memory:', origin: 'empty.example', works: false })
    const api = localApi(registry, systemCaller)
    const { treeSize, rootHash, signers } = readCheckpoint(await textOf(await api.getCheckpoint()), await readKeys(api))
    expect({ treeSize, rootHash, signers: signers.length }).toEqual({
      treeSize: 0,
      rootHash: naiveRoot([]).toString('base64'),
      signers: 1,
    })
    expect(await codeOf(api.getTile({ path: '0/000.p/1' }))).toBe('not_found')
    await registry.close()
  })
})

describe('a log of more than one level of full tiles', () => {
  it('has the tiles of each level, and valid proofs', async () => {
    const registry = await openRegistry({ path: ':memory:', origin: 'deep.example', works: false })
    const api = localApi(registry)
    const size = 65_900
    await appendAtOnce(registry, size)
    const rows = await partsOf(registry).database.read.selectFrom('log').select('entry').orderBy('seq').execute()
    const leaves = rows.map(({ entry }) => naiveLeaf(Buffer.from(entry)))
    const rootHash = foldRoot(leaves).toString('base64')
    expect(readCheckpoint(await textOf(await api.getCheckpoint()), await readKeys(api))).toMatchObject({
      treeSize: size,
      rootHash,
    })
    const toTileRoot = (n: number) => foldRoot(leaves.slice(n * 256, (n + 1) * 256))
    const level1 = Array.from({ length: 257 }, (_, n) => toTileRoot(n))
    for (const [path, hashes] of [
      ['0/256', leaves.slice(65_536, 65_792)],
      ['0/257.p/108', leaves.slice(65_792)],
      ['1/000', level1.slice(0, 256)],
      ['1/001.p/1', level1.slice(256)],
      ['2/000.p/1', [foldRoot(leaves.slice(0, 65_536))]],
    ] as const) {
      expect(await bytesOf(await api.getTile({ path })), path).toEqual(Buffer.concat(hashes))
    }
    for (const index of [0, 255, 65_535, 65_536, size - 1]) {
      expect(await proveInclusion(partsOf(registry), index)).toMatchObject({
        rootHash,
        leafHash: leaves[index]!.toString('base64'),
      })
    }
    await registry.close()
  })
})

/** The root over hashes, level by level, which is faster than recursion for many. */
function foldRoot(hashes: readonly Buffer[]): Buffer {
  if (hashes.length === 1) return hashes[0]!
  const above: Buffer[] = []
  for (let i = 0; i < hashes.length; i += 2) {
    const [left, right] = [hashes[i]!, hashes[i + 1]]
    above.push(
      right
        ? createHash('sha256')
            .update(Buffer.concat([Buffer.of(1), left, right]))
            .digest()
        : left,
    )
  }
  return foldRoot(above)
}
