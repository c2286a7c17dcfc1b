import type { ErrorCode } from '@skillstead/protocol'
import type { UpstreamWriteRow } from './tables/mirror-tables.ts'

/** Why a write failed, or a note about a write that succeeded. */
export interface WriteProblem {
  readonly code: ErrorCode | 'altered' | 'quarantined' | 'unlinked' | 'changed'
  readonly message: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A write for an upstream in the form that the operator sees. */
export interface OutboxWrite {
  readonly id: string
  readonly upstream: string
  /** The full names of the skill: `subject` on this node, `subjectThere` at the upstream, where it may differ. */
  readonly subject: string
  readonly subjectThere: string
  readonly kind: UpstreamWriteRow['kind']
  /** The version of a publish or fork; null for other writes. */
  readonly version: string | null
  /** The user who caused the write; null for installs, which are counted without a user. */
  readonly user: string | null
  readonly state: UpstreamWriteRow['state']
  readonly attempts: number
  /** Why the write has not succeeded yet, or a note about a write that succeeded. */
  readonly problem: WriteProblem | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly endedAt: number | null
}

/** Which writes to list. */
export interface ListWritesOptions {
  readonly upstream?: string
  /** The states to list. Default: pending and in conflict. */
  readonly states?: readonly UpstreamWriteRow['state'][]
  /** Default: 100. */
  readonly limit?: number
  readonly offset?: number
}

/** A user's account at an upstream. */
export interface LinkedAccount {
  readonly user: string
  readonly upstream: string
  /** The username at the upstream; null until the upstream has responded. */
  readonly username: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** The queue of local changes that are also sent to upstreams. */
export interface MirrorOutbox {
  /** Lists writes, oldest first. */
  list(options?: ListWritesOptions): Promise<OutboxWrite[]>
  /** Sends a write that is pending or in conflict at once. Throws `not_found`, and `conflict` for a completed write. */
  retry(id: string): Promise<void>
  /** Drops a write, so that its skill's later writes continue. Throws `not_found`, and `conflict` if completed. */
  drop(id: string): Promise<void>
  /**
   * Publishes or forks a skill under another name at the upstream; later writes of the skill use this name, too. Throws
   * `not_found`, `invalid_request`, `name_taken`, and `conflict` for a write that is completed or may have arrived.
   */
  rename(id: string, newName: string): Promise<void>
  /**
   * Sends pending writes now. For a process that runs no outbox jobs. Writes that fail stay pending or are in conflict.
   * Throws `offline`.
   */
  deliver(upstream?: string): Promise<{ delivered: number; waiting: number; inConflict: number }>
}

/** The accounts of this node's users at upstreams. */
export interface MirrorAccounts {
  /**
   * Stores a user's API key for an upstream, encrypted. Throws `not_found`, `invalid_request` for a key that the
   * upstream rejects, and `conflict` if this node has no secret key.
   */
  link(user: string, upstream: string, key: string): Promise<LinkedAccount>
  /** Deletes a user's API key; writes that need it stay pending until a key is linked again. Throws `not_found`. */
  unlink(user: string, upstream: string): Promise<void>
  /** Lists the linked accounts, without their API keys. */
  list(): Promise<LinkedAccount[]>
}
