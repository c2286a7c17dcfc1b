import type { PlanName } from '@skillstead/protocol'
import type { Outgoing } from '../http/outgoing.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { SharedLimits } from '../storage/shared-limits.ts'

/** API keys that are revoked together. */
export interface RevokedKeys {
  readonly ids: readonly string[]
  /**
   * Whether the API keys and share links that were made with the revoked keys are revoked too. Otherwise `made_by` of
   * these keys and links becomes `heir`.
   */
  readonly withMade: boolean
  /** The key with which the key that the caller asked to revoke was made; null if it was not made with a key. */
  readonly heir: string | null
}

/** Dependencies of users, keys, sessions and author verification. */
export interface AccountsContext extends StorageContext {
  readonly outbox: Outbox
  readonly outgoing: Outgoing
  /** Name of this node. Verification tokens contain it. */
  readonly origin: string
  /** Rate limits that all nodes on one database share; undefined if only one node can use the database. */
  readonly sharedLimits: SharedLimits | undefined
  /** Plan of new users. */
  readonly defaultPlan: PlanName
  /** Whether users may sign in to the dashboard with an API key (`POST /session`). */
  readonly localSignIn: boolean
  /**
   * Called in the transaction in which a user becomes a verified author or stops being a verified author. `at` is in
   * milliseconds since 1970.
   */
  onVerificationChange(trx: WriteTransaction, userId: string, at: number): Promise<void>
  /** Called in the transaction in which keys are revoked. */
  onKeysRevoked(trx: WriteTransaction, revoked: RevokedKeys): Promise<void>
}
