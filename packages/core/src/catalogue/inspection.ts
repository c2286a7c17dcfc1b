import type { Access, Security } from '@skillstead/protocol'
import { putAccess } from './stored-access.ts'
import type { CopyIndex } from './copy-index.ts'
import type { Sketch } from './sketch.ts'
import { putScan, toStoredScan, type StoredScan } from './stored-scans.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** What a version's content alone determines. */
export interface Inspection {
  readonly scan: Security
  readonly access: Access
  readonly sketch: Sketch
}

/** A version that was just inserted, before its skill is refreshed. */
export interface InspectedVersion {
  readonly skillId: string
  readonly versionId: string
  readonly inspection: Inspection
  /** In milliseconds since 1970. */
  readonly at: number
}

/** The part that the public form of a skill shows. */
export interface RecordedInspection {
  readonly scan: StoredScan
}

/** Stores an inspection in the transaction that stores the version. */
export async function recordInspection(
  trx: WriteTransaction,
  copies: CopyIndex,
  { skillId, versionId, inspection }: InspectedVersion,
): Promise<RecordedInspection> {
  const scan = toStoredScan(inspection.scan)
  await putScan(trx, { skillId, versionId, scan })
  await putAccess(trx, { versionId, access: inspection.access })
  await copies.put(trx, { skillId, versionId, sketch: inspection.sketch })
  return { scan }
}
