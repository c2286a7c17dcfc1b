import type { Access, Security, Widens } from '@skillstead/protocol'
import { findWidening } from '@skillstead/scanner'
import type { Insertable, Kysely } from 'kysely'
import { insertTerms } from '../search/version-terms.ts'
import { compileQuery, compileForColumns, compileInsert } from '../storage/compiled-query.ts'
import type { ScanRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CopyIndex } from './copy-index.ts'
import type { Sketch } from './sketch.ts'

/** The results that depend only on the content of a version. */
export interface Inspection {
  readonly scan: Security
  readonly access: Access
  readonly sketch: Sketch
  /** The terms of SKILL.md for the search by need: see `toContentVector`. */
  readonly terms: Uint8Array
}

/** Stores an inspection in the transaction that stores the version. */
export async function recordInspection(
  trx: WriteTransaction,
  copies: CopyIndex,
  { skillId, versionId, inspection }: { skillId: string; versionId: string; inspection: Inspection },
) {
  const scan = toStoredScan(inspection.scan)
  await putScan(trx, { skillId, versionId, scan })
  await insertAccess(trx, { version_id: versionId, access: JSON.stringify(inspection.access) })
  await insertTerms(trx, { version_id: versionId, terms: inspection.terms })
  await copies.put(trx, { skillId, versionId, sketch: inspection.sketch })
  return { scan }
}

/** A scan as stored in its row, without the ids. */
export type StoredScan = Omit<ScanRow, 'version_id' | 'skill_id'>

const scanColumns = ['score', 'verdict', 'risk', 'rules_version', 'scanned_at', 'report'] as const

export function toStoredScan(scan: Security): StoredScan {
  const { score, verdict, risk, rulesVersion, scannedAt } = scan
  const scanned_at = Date.parse(scannedAt)
  return { score, verdict, risk, rules_version: rulesVersion, scanned_at, report: JSON.stringify(scan) }
}

/** Stores the scan of a version, replacing an older one. */
export async function putScan(
  trx: WriteTransaction,
  { skillId, versionId, scan }: { skillId: string; versionId: string; scan: StoredScan },
): Promise<void> {
  await upsertScan(trx, { version_id: versionId, skill_id: skillId, ...scan })
}

const upsertScan = compileForColumns((db, row: Insertable<Tables['scans']>) =>
  db
    .insertInto('scans')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('version_id')
        .doUpdateSet((eb) => Object.fromEntries(scanColumns.map((name) => [name, eb.ref(`excluded.${name}`)]))),
    ),
)

/** The stored scan of a version; undefined if there is none yet. */
export function findScan(db: Kysely<Tables>, versionId: string): Promise<StoredScan | undefined> {
  return db.selectFrom('scans').select(scanColumns).where('version_id', '=', versionId).executeTakeFirst()
}

/** The public form of a version's stored scan; null if there is none yet. */
export async function readScan(db: Kysely<Tables>, versionId: string): Promise<Security | null> {
  const stored = await findScan(db, versionId)
  return stored ? (JSON.parse(stored.report) as Security) : null
}

/** As {@link readScan} for many versions, by id. Versions without a scan are missing from the result. */
export async function readScansOfMany(db: Kysely<Tables>, versionIds: readonly string[]) {
  if (versionIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('scans')
    .select(['version_id', 'report'])
    .where('version_id', 'in', versionIds)
    .execute()
  return new Map(rows.map(({ version_id, report }) => [version_id, JSON.parse(report) as Security]))
}

/** What a version accesses, and what it accesses in addition to the previous version, in the form of the API. */
export interface ShownAccess {
  readonly access: Access
  /** The access added since the next lower version that is not yanked; null if there is no such version. */
  readonly widens: Widens | null
}

/** A version with the facts needed to compare it with the others of its skill. */
interface ListedVersion {
  readonly id: string
  readonly version: string
  readonly yanked: number
}

const insertAccess = compileInsert('version_access')

/** The public form of what a version accesses. */
export async function showAccess(db: Kysely<Tables>, { id, skill_id }: { id: string; skill_id: string }) {
  return (await showAccessOfMany(db, skill_id, [id])).get(id)!
}

/** As {@link showAccess} of many versions of one skill, by their ids, with two queries. */
export async function showAccessOfMany(db: Kysely<Tables>, skillId: string, ids: readonly string[]) {
  return showAccessAmong(db, await selectVersions(db, { skillId }), ids)
}

/** As {@link showAccessOfMany}, given all versions of the skill, highest first. */
export async function showAccessAmong(db: Kysely<Tables>, versions: readonly ListedVersion[], ids: readonly string[]) {
  const wanted = new Set(ids)
  const pairs = versions.flatMap((version, i) =>
    wanted.has(version.id) ? [{ version, earlier: versions.find((one, at) => at > i && one.yanked === 0) }] : [],
  )
  const found = await readAccessOfMany(
    db,
    pairs.flatMap(({ version, earlier }) => [version.id, ...(earlier ? [earlier.id] : [])]),
  )
  const toVersionAccess = ({ id, version }: ListedVersion) => ({ version, access: found.get(id) ?? unread })
  return new Map(
    pairs.map(({ version, earlier }) => {
      const { access } = toVersionAccess(version)
      const widens = earlier ? findWidening(toVersionAccess(earlier), toVersionAccess(version)) : null
      return [version.id, { access, widens }]
    }),
  )
}

/** What versions access, by version id. */
export async function readAccessOfMany(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Access>> {
  if (ids.length === 0) return new Map()
  const rows =
    ids.length <= 2
      ? await selectPair(db, { one: ids[0]!, other: ids.at(-1)! })
      : await db
          .selectFrom('version_access')
          .selectAll()
          .where('version_id', 'in', [...new Set(ids)])
          .execute()
  return new Map(rows.map(({ version_id, access }) => [version_id, JSON.parse(access) as Access]))
}

/** The access of a version that was stored before access was analysed. */
export const unread: Access = {
  tools: [],
  commands: [],
  hosts: [],
  environment: [],
  packages: [],
  files: [],
  cut: ['What this version accesses has not been analysed.'],
}

const selectPair = compileQuery((db, { one, other }: { one: string; other: string }) =>
  db.selectFrom('version_access').selectAll().where('version_id', 'in', [one, other]),
)

const selectVersions = compileQuery((db, { skillId }: { skillId: string }) =>
  db
    .selectFrom('versions')
    .select(['id', 'version', 'yanked'])
    .where('skill_id', '=', skillId)
    .orderBy('sort_key', 'desc'),
)
