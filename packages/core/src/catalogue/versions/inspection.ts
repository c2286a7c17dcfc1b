import type { Access, Security } from '@skillstead/protocol'
import type { Outline } from '@skillstead/scanner'
import type { Insertable, Kysely } from 'kysely'
import { insertTerms } from '../../search/database/version-terms.ts'
import { compileForColumns, compileInsert } from '../../storage/compiled-query.ts'
import { parseJson, type ScanRow, type Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CopyIndex } from '../sketches/copy-index.ts'
import type { Sketch } from '../sketches/sketch.ts'

/** The results that depend only on the content of a version. */
export interface Inspection {
  readonly scan: Security
  readonly access: Access
  /** The parts that later versions are compared with. */
  readonly outline: Outline
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
  const { access, outline } = inspection
  await insertAccess(trx, {
    version_id: versionId,
    access: JSON.stringify(access),
    outline: JSON.stringify(outline),
  })
  await insertTerms(trx, { version_id: versionId, terms: inspection.terms })
  await copies.put(trx, { skillId, versionId, sketch: inspection.sketch })
  return { scan }
}

/** Stores or replaces the outline of a version, for example of one that was stored before outlines were read. */
export async function putOutline(trx: WriteTransaction, versionId: string, outline: Outline): Promise<void> {
  await trx
    .updateTable('version_access')
    .set({ outline: JSON.stringify(outline) })
    .where('version_id', '=', versionId)
    .execute()
}

/** A scan as stored in its row, without the ids. */
export type StoredScan = Omit<ScanRow, 'version_id' | 'skill_id'>

const scanColumns = ['score', 'verdict', 'risk', 'rules_version', 'scanned_at', 'report'] as const

export function toStoredScan(scan: Security): StoredScan {
  const { score, verdict, risk, rulesVersion, scannedAt } = scan
  const scanned_at = Date.parse(scannedAt)
  return { score, verdict, risk, rules_version: rulesVersion, scanned_at, report: JSON.stringify(scan) }
}

/** Stores the scan of a version, replacing an older scan. */
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

/** The stored scan of a version; undefined before the first scan. */
export function findScan(db: Kysely<Tables>, versionId: string): Promise<StoredScan | undefined> {
  return db.selectFrom('scans').select(scanColumns).where('version_id', '=', versionId).executeTakeFirst()
}

/** The public form of a version's stored scan; null before the first scan. */
export async function readScan(db: Kysely<Tables>, versionId: string): Promise<Security | null> {
  const stored = await findScan(db, versionId)
  return stored ? parseJson(stored.report) : null
}

/** As {@link readScan} for many versions, by id. Versions without a scan are missing from the result. */
export async function readScansOfMany(db: Kysely<Tables>, versionIds: readonly string[]) {
  if (versionIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('scans')
    .select(['version_id', 'report'])
    .where('version_id', 'in', versionIds)
    .execute()
  return new Map(rows.map(({ version_id, report }) => [version_id, parseJson(report)]))
}

const insertAccess = compileInsert('version_access')

/** The access of versions by version id. */
export async function readAccessOfMany(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, Access>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('version_access')
    .select(['version_id', 'access'])
    .where('version_id', 'in', [...new Set(ids)])
    .execute()
  return new Map(rows.map(({ version_id, access }) => [version_id, parseJson(access)]))
}

/** The access of a version whose access was not analysed, because the version is too old or its inspection failed. */
export const unreadAccess: Access = {
  tools: [],
  commands: [],
  hosts: [],
  environment: [],
  packages: [],
  files: [],
  cut: ['What this version accesses has not been analysed.'],
}
