import type { Access, Security } from '@skillstead/protocol'
import { inspectAccess } from '../access/inspect-access.ts'
import { putAccess } from '../access/stored-access.ts'
import { putSketch } from '../copies/put-sketch.ts'
import { toSketch, type Sketch } from '../copies/sketch.ts'
import { scanPackage } from '../scan/scan-package.ts'
import { putScan, toStoredScan, type StoredScan } from '../security/stored-scans.ts'
import type { Dialect } from '../storage/database.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { PackedContent } from './skill-package.ts'

/** What can be said of a version by its content alone. */
export interface Inspection {
  readonly scan: Security
  readonly access: Access
  readonly sketch: Sketch
}

/** A version that was just inserted, before its skill is refreshed. */
export interface InspectedVersion {
  readonly dialect: Dialect
  readonly skillId: string
  readonly versionId: string
  readonly inspection: Inspection
  /** In milliseconds since 1970. */
  readonly at: number
}

/** What the public form of a skill shows of it. */
export interface RecordedInspection {
  readonly scan: StoredScan
}

/** Looks at a package before any transaction begins; `now` is in milliseconds since 1970. */
export async function inspectPackage({ sources }: PackedContent, now: number): Promise<Inspection> {
  const scan = scanPackage(sources, now)
  const access = await inspectAccess(sources)
  return { scan: await scan, access, sketch: toSketch(sources[0]!.bytes) }
}

/** Stores what was found, in the transaction that stores the version. */
export async function recordInspection(
  trx: WriteTransaction,
  { dialect, skillId, versionId, inspection }: InspectedVersion,
): Promise<RecordedInspection> {
  const scan = toStoredScan(inspection.scan)
  await putScan(trx, { skillId, versionId, scan })
  await putAccess(trx, { versionId, access: inspection.access })
  await putSketch(trx, dialect, { skillId, versionId, sketch: inspection.sketch })
  return { scan }
}
