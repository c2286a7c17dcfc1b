import { createHash, generateKeyPairSync } from 'node:crypto'
import { verifyCheckpoint, verifyConsistency, verifyProvenance } from '@skillstead/client/verify'
import { partsOf } from '@skillstead/core/internal'
import { readZip } from '@skillstead/skill-format/archives'
import type { Kysely } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { bytesOf, skillMd, textOf } from '../support/answers.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { appendMany } from '../support/log-acts.ts'
import { naiveProof } from '../support/naive-tree.ts'
import { readEntries, readKeys } from '../support/signed-log.ts'

type Row = Record<string, unknown>
/** One row of a table, and its changed columns. */
interface Alteration {
  readonly table: string
  readonly where: Row
  readonly to: (row: never) => Row
}

const sha256 = (text: string) => createHash('sha256').update(text).digest()
const toZeros = (bytes: Uint8Array) => Buffer.alloc(bytes.length)
const withoutHolder = (entry: string) => entry.replace('"holder":true', '"holder":false')
const stolen = generateKeyPairSync('ed25519')

const version = { table: 'versions', where: { version: '7.0.0' } }
const entryOfTea = { table: 'log', where: { subject: 'alice/tea@7.0.0' } }
const entryOfEarly = { table: 'log', where: { subject: 'alice/early@1.0.0' } }

/** The alterations with all errors of verification. `early` is in a full tile, `tea` in one that still grows. */
const alterations: readonly [what: string, skill: 'early' | 'tea', Alteration, said: readonly RegExp[]][] = [
  [
    'a blob',
    'tea',
    {
      table: 'blobs',
      where: { digest: `sha256:${sha256('The first file.').toString('hex')}` },
      to: () => ({ bytes: Buffer.from('The FIRST file.') }),
    },
    [/^content: The content has the digest \S+, not \S+: a\.txt was altered\.$/],
  ],
  [
    'the list of files',
    'tea',
    { table: 'version_files', where: { path: 'tea.txt' }, to: () => ({ path: 'other.txt' }) },
    [/^content: .*: tea\.txt is missing, other\.txt does not belong to it\.$/],
  ],
  [
    'the digest of the version',
    'tea',
    { ...version, to: () => ({ digest: `sha256:${'0'.repeat(64)}` }) },
    [
      /^entry: The log entry has the digest sha256:\w+, but the record has sha256:0+\.$/,
      /^content: The content has the/,
    ],
  ],
  [
    'the publisher',
    'tea',
    { ...version, to: () => ({ publisher_id: '01a1fe5e-ab72-774d-9c38-6ca809b7a7d4' }) },
    [/^entry: The log entry has the publisher \S+, but the record has 01a1fe5e-\S+\.$/],
  ],
  [
    'the time of publication',
    'tea',
    { ...version, to: () => ({ published_at: 0 }) },
    [/^entry: The log entry has the time of publication 2026\S+, but the record has 1970\S+\.$/],
  ],
  [
    'a log entry',
    'tea',
    { ...entryOfTea, to: ({ entry }: { entry: string }) => ({ entry: withoutHolder(entry) }) },
    [/^leaf: The entry has the leaf hash \S+, but the record has \S+\.$/],
  ],
  [
    'a log entry in a full tile',
    'early',
    { ...entryOfEarly, to: ({ entry }: { entry: string }) => ({ entry: withoutHolder(entry) }) },
    [/^leaf: The entry has the leaf hash \S+, but the record has \S+\.$/],
  ],
  [
    'a log entry and its hash together',
    'tea',
    {
      ...entryOfTea,
      to: ({ entry }: { entry: string }) => ({
        entry: withoutHolder(entry),
        hash: sha256(`\0${withoutHolder(entry)}`),
      }),
    },
    [/^inclusion: The inclusion proof of index 301 does not lead/],
  ],
  [
    'the log entry of another version in its place',
    'tea',
    { ...entryOfTea, to: () => ({ entry: '{}', hash: sha256('\0{}') }) },
    [/^inclusion: /, /^entry: The log entry is not one of a version: /],
  ],
  [
    'a leaf hash in the same record',
    'tea',
    { table: 'log', where: { seq: 300 }, to: ({ hash }: { hash: Buffer }) => ({ hash: toZeros(hash) }) },
    [/^inclusion: The inclusion proof of index 301 does not lead/],
  ],
  [
    'a tile',
    'early',
    {
      table: 'tree_tiles',
      where: { level: 0, n: 0 },
      // Its own leaf hash is unchanged.
      to: ({ hashes }: { hashes: Buffer }) => ({
        hashes: Buffer.concat([hashes.subarray(0, 32), toZeros(hashes.subarray(32))]),
      }),
    },
    [/^inclusion: The inclusion proof of index 0 does not lead/],
  ],
  [
    'the head of the tree, which is signed all the same',
    'tea',
    { table: 'heads', where: { id: 1 }, to: ({ frontier }: { frontier: Buffer }) => ({ frontier: toZeros(frontier) }) },
    [/^inclusion: .* does not lead .* to the root hash of 307 entries\.$/],
  ],
  [
    'the key',
    'tea',
    {
      table: 'signing_keys',
      where: { number: 1 },
      to: () => ({
        public_key: Buffer.from(stolen.publicKey.export({ format: 'jwk' }).x!, 'base64url'),
        private_key: stolen.privateKey.export({ format: 'der', type: 'pkcs8' }),
      }),
    },
    [
      /^signature: The signature of the record is by the key node\.example\+[0-9a-f]{8}, which is not among the given keys: node\.ex/,
      /^checkpoint: The signature of the checkpoint is by the key node\.example\+[0-9a-f]{8}, which is not among the given keys: node/,
    ],
  ],
]

describeDatabases('a node whose storage was altered', (open) => {
  let test: TestRegistry
  let keys: string[]
  beforeAll(async () => {
    test = await open({ origin: 'node.example' })
    const alice = await test.makeUser('alice')
    const files = [{ path: 'a.txt', content: 'The first file.' }]
    await alice.api.publishSkill({ skillMd: skillMd('early'), files })
    await appendMany(test, 300)
    const more = [...files, { path: 'tea.txt', content: 'Tea.' }]
    await alice.api.publishSkill({ skillMd: skillMd('tea'), files: more, version: '7.0.0' })
    await appendMany(test, 5)
    keys = await readKeys(test.api())
  })

  /** The errors of verifying a skill in a process without caches. */
  async function verifyAgain(name: string): Promise<string[]> {
    const node = await open({ at: test.location, clock: test.clock, origin: 'node.example', works: false })
    const record = await node.api().getProvenance({ name })
    const archive = await bytesOf(await node.api().getArchive({ name }))
    await node.close()
    const content = await readZip(archive, { keep: (path) => path, problems: [] })
    return verifyProvenance(record, { keys, content }).problems.map(({ part, message }) => `${part}: ${message}`)
  }

  const write = <R>(change: (db: Kysely<Record<string, Row>>) => Promise<R>) =>
    partsOf(test.registry).database.writer.write((trx) => change(trx as never))
  const readCheckpoint = async (of: TestRegistry) =>
    verifyCheckpoint(await textOf(await of.api().getCheckpoint()), keys)

  /** Runs work while a row is altered, and restores the row. */
  async function whileAltered<T>({ table, where, to }: Alteration, work: () => Promise<T>): Promise<T> {
    const set = (db: Kysely<Record<string, Row>>, of: Row, values: Row) =>
      db
        .updateTable(table)
        .set(values)
        .where((eb) => eb.and(of as never))
        .execute()
    const { before, after } = await write(async (db) => {
      const row = await db
        .selectFrom(table)
        .selectAll()
        .where((eb) => eb.and(where as never))
        .executeTakeFirstOrThrow()
      const values = to(row as never)
      await set(db, where, values)
      return { before: pick(row, values), after: { ...where, ...pick(values, where) } }
    })
    try {
      return await work()
    } finally {
      await write((db) => set(db, after, before))
    }
  }

  it('passes verification before the alteration', async () => {
    expect(await verifyAgain('tea')).toEqual([])
    expect(await verifyAgain('early')).toEqual([])
  })

  it.each(alterations)('fails verification after a change of %s', async (_what, skill, alteration, said) => {
    const problems = await whileAltered(alteration, () => verifyAgain(skill))
    expect(problems).toEqual(said.map((pattern) => expect.stringMatching(pattern)))
    expect(await verifyAgain(skill), 'once it is as it was').toEqual([])
  })

  it("refuses to create a provenance record if the log lost the version's entry", async () => {
    const alteration = { ...entryOfTea, to: () => ({ subject: 'alice/coffee@7.0.0' }) }
    const problems = whileAltered(alteration, () => verifyAgain('tea'))
    await expect(problems).rejects.toThrow("The entry of alice/tea@7.0.0 is missing from this node's log.")
  })

  it("fails verification with an old checkpoint, even if the log was rewritten completely with the node's key", async () => {
    const { treeSize: olderSize, rootHash: olderRootHash } = await readCheckpoint(test)
    const signingKeys = await partsOf(test.registry).database.read.selectFrom('signing_keys').selectAll().execute()
    const rewritten = await open({ origin: 'node.example' })
    await partsOf(rewritten.registry).database.writer.write(async (trx) => {
      await trx.deleteFrom('signing_keys').execute()
      await trx.insertInto('signing_keys').values(signingKeys).execute()
    })
    await appendMany(rewritten, olderSize + 10)
    await appendMany(test, 10)
    const verify = async (of: TestRegistry) => {
      const checkpoint = await readCheckpoint(of)
      const entries = await readEntries(of.api(), checkpoint.treeSize)
      const proof = naiveProof(olderSize, entries).map((hash) => hash.toString('base64'))
      return verifyConsistency({ olderSize, olderRootHash, ...checkpoint, proof })
    }
    await expect(verify(rewritten)).rejects.toThrow(`does not begin with the ${olderSize} entries`)
    await expect(verify(test)).resolves.toBeUndefined()
  })
})

/** The columns of a row that another row also has. */
function pick(row: Row, keys: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([key]) => key in keys))
}
