import type { Security } from '@skillstead/protocol'
import type { BlobEncoding } from './tables.ts'

/** What scans came to, and what is held because of it. */
export interface ScanTables {
  scans: ScanRow
  held_versions: HeldVersionRow
  held_files: HeldFileRow
  quarantined_versions: QuarantinedVersionRow
}

/** The newest scan of a version. */
export interface ScanRow {
  version_id: string
  skill_id: string
  score: number
  verdict: Security['verdict']
  risk: Security['risk']
  rules_version: string
  scanned_at: number
  /** The whole of it, JSON. */
  report: string
}

/** A version that is not published until an administrator says so. */
export interface HeldVersionRow {
  id: string
  owner_id: string
  publisher_id: string
  full_name: string
  /** The number that it would have had when it came. */
  version: string
  digest: string
  /** The report, JSON. */
  scan: string
  /** What was asked for besides the content, JSON. */
  publication: string
  /** The agent whose deed it will be. */
  agent_id: string | null
  created_at: number
}

interface HeldFileRow {
  held_id: string
  path: string
  size: number
  digest: string
  encoding: BlobEncoding
  bytes: Uint8Array
}

/** A stored version that a rescan quarantined. */
interface QuarantinedVersionRow {
  version_id: string
  quarantined_at: number
}
