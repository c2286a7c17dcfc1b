import { sql, type Kysely } from 'kysely'
import { type Blob, type Dialect, type Tables, unpackBlob } from '@skillstead/core/internal'
import { toDigest } from '@skillstead/skill-format/archives'
import { Faults } from '../doctor/finding.ts'
import { checkLog } from '../doctor/check-log.ts'
import { checkVersionDigests } from '../doctor/check-versions.ts'
import { readColumns } from './portable-columns.ts'
import { readTableRows } from './read-rows.ts'

/**
 * The first problem of imported or restored data; undefined if there is none. Checks contents against their digests,
 * versions against their files, files against the contents, and the log, its tree and keys against each other.
 */
export async function findRowProblem(db: Kysely<Tables>, dialect: Dialect): Promise<string | undefined> {
  return (
    (await findContentProblem(db, dialect, 'blobs')) ??
    (await findContentProblem(db, dialect, 'quarantine_files')) ??
    (await findMissing(db)) ??
    (await findVersionProblem(db)) ??
    (await findLogProblem(db))
  )
}

/** The rows whose contents are checked. A backup lacks contents in a bucket: `doctor --deep` checks them. */
const rules = {
  blobs: { key: ['digest'], where: "(place is null or place = 'waiting')", isHeavy: true },
  quarantine_files: { key: ['quarantine_id', 'path'], isHeavy: true },
} as const

async function findContentProblem(
  db: Kysely<Tables>,
  dialect: Dialect,
  table: 'blobs' | 'quarantine_files',
): Promise<string | undefined> {
  const all = await readColumns(db, dialect, table)
  const columns = ['digest', 'size', 'encoding', 'bytes'].map((wanted) => all.find(({ name }) => name === wanted)!)
  for await (const rows of readTableRows(db, dialect, { table, rule: rules[table], columns })) {
    for (const [digest, size, encoding, bytes] of rows) {
      const blob = { digest, size, encoding, bytes } as Blob
      if (!(await isWhole(blob))) return `Content ${blob.digest} does not match its digest.`
    }
  }
  return undefined
}

async function isWhole(blob: Blob): Promise<boolean> {
  try {
    const bytes = await unpackBlob(blob)
    return bytes.length === blob.size && toDigest(bytes) === blob.digest
  } catch {
    return false
  }
}

async function findMissing(db: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ digest: string }>`select version_files.digest from version_files
    left join blobs on blobs.digest = version_files.digest where blobs.digest is null limit 1`.execute(db)
  return rows[0] && `Content ${rows[0].digest} of a version is missing.`
}

async function findVersionProblem(db: Kysely<Tables>): Promise<string | undefined> {
  const faults = new Faults()
  await checkVersionDigests(db, faults)
  return faults.isEmpty ? undefined : faults.toOutcome('', '').detail.trimEnd()
}

async function findLogProblem(db: Kysely<Tables>): Promise<string | undefined> {
  const { ok, detail } = await checkLog({ database: { read: db } })
  // Drop the advice to restore a backup, which is for a registry in use.
  return ok ? undefined : detail.replace(' Restore a backup.', '')
}
