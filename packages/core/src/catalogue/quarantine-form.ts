import { type QuarantinedVersion, type Security, toTimestamp } from '@skillstead/protocol'
import type { HeldVersionRow } from '../storage/rows-scans.ts'

/** The public form of a quarantined version; `publisher` is the publisher's username. */
export function toQuarantinedVersion(row: HeldVersionRow & { publisher: string }): QuarantinedVersion {
  return {
    id: row.id,
    fullName: row.full_name,
    version: row.version,
    digest: row.digest,
    publisher: { id: row.publisher_id, username: row.publisher },
    security: JSON.parse(row.scan) as Security,
    createdAt: toTimestamp(row.created_at),
    published: false,
  }
}
