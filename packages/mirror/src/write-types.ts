import type { ErrorCode } from '@skillstead/protocol'
import type { UpstreamWriteRow } from './tables/mirror-tables.ts'

/** Why a write did not arrive, or what is to be known of one that did. */
export interface WriteProblem {
  readonly code: ErrorCode | 'altered' | 'quarantined' | 'unlinked' | 'changed'
  readonly message: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** A write for an upstream as the operator sees it. */
export interface OutboxWrite {
  readonly id: string
  readonly upstream: string
  /** The skill's full name here; and at the upstream, where that is another. */
  readonly subject: string
  readonly subjectThere: string
  readonly kind: UpstreamWriteRow['kind']
  /** Of a publish or a fork. */
  readonly version: string | null
  /** Null for what nobody in particular did. */
  readonly user: string | null
  readonly state: UpstreamWriteRow['state']
  readonly attempts: number
  /** Why it did not arrive yet, or what is to be known of it. */
  readonly problem: WriteProblem | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly endedAt: number | null
}

export interface ListWritesOptions {
  readonly upstream?: string
  /** What waits and what is in conflict, unless it is said. */
  readonly states?: readonly UpstreamWriteRow['state'][]
  /** 100 unless it is said. */
  readonly limit?: number
  readonly offset?: number
}

/** A user's account at an upstream. */
export interface LinkedAccount {
  readonly user: string
  readonly upstream: string
  /** What the user is called there; null until the upstream could be asked. */
  readonly username: string | null
  /** Milliseconds since 1970. */
  readonly createdAt: number
}

/** What was done here and is to be done at upstreams too. */
export interface MirrorOutbox {
  /** In the order in which it was done; what waits and what is in conflict unless other states are asked for. */
  list(options?: ListWritesOptions): Promise<OutboxWrite[]>
  /** Sends one in conflict again, or one that waits now. Throws `not_found`, `conflict` for what is settled. */
  retry(id: string): Promise<void>
  /** Gives one up; what waits behind it goes on. Throws `not_found`, `conflict` for what is settled. */
  drop(id: string): Promise<void>
  /**
   * Publishes, or forks, under another name there; what follows of this skill goes to that name too. Throws `not_found`,
   * `invalid_request`, `conflict` for what is settled or may have arrived already, `name_taken`.
   */
  rename(id: string, newName: string): Promise<void>
  /**
   * Sends now what waits, for a process that takes no work from the outbox; what does not arrive goes on waiting.
   * Throws `offline`.
   */
  deliver(upstream?: string): Promise<{ delivered: number; waiting: number; inConflict: number }>
}

/** The accounts that users of this node have at upstreams. */
export interface MirrorAccounts {
  /**
   * Keeps a user's API key for an upstream, sealed. Throws `not_found`, `invalid_request` for a key that the upstream
   * does not know, `conflict` where this node has no secret key.
   */
  link(user: string, upstream: string, key: string): Promise<LinkedAccount>
  /** Forgets it; what waits with it waits until it is linked again, or dropped. Throws `not_found`. */
  unlink(user: string, upstream: string): Promise<void>
  list(): Promise<LinkedAccount[]>
}
