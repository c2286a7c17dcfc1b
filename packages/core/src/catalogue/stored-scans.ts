import type { Security } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { keepForColumns } from '../storage/compiled-query.ts'
import type { ScanRow } from '../storage/rows-scans.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** A scan as stored in its row, without the ids. */
export type StoredScan = Omit<ScanRow, 'version_id' | 'skill_id'>

const scanColumns = ['score', 'verdict', 'risk', 'rules_version', 'scanned_at', 'report'] as const

/** The stored form of a scan. */
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

const upsertScan = keepForColumns((db, places) =>
  db
    .insertInto('scans')
    .values(places as never)
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
export async function readScansOfMany(
  db: Kysely<Tables>,
  versionIds: readonly string[],
): Promise<ReadonlyMap<string, Security>> {
  if (versionIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('scans')
    .select(['version_id', 'report'])
    .where('version_id', 'in', versionIds)
    .execute()
  return new Map(rows.map(({ version_id, report }) => [version_id, JSON.parse(report) as Security]))
}
