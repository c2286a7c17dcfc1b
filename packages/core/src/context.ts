import type { PlanName } from '@skillstead/protocol'
import type { AddressLimits } from './accounts/address-limits.ts'
import type { AnswerCache } from './kernel/response-cache.ts'
import type { ChangeFollower } from './log/change-follower.ts'
import type { Clock } from './kernel/clock.ts'
import type { CopyIndex } from './catalogue/copy-index.ts'
import type { Counters } from './community/download-counters.ts'
import type { Artifacts } from './catalogue/discovery-artifacts.ts'
import type { Upstreams } from './upstreams/upstream-port.ts'
import type { BackupPlan } from './operator/scheduled-backups.ts'
import type { ServingNode } from './operator/node-port.ts'
import type { SetupCode } from './operator/setup-code.ts'
import type { Outbox } from './outbox/outbox.ts'
import type { Traffic } from './outbox/throttle.ts'
import type { Outgoing } from './http/outgoing.ts'
import type { CatalogueSearch } from './search/catalogue-search.ts'
import type { Secrets } from './kernel/secrets.ts'
import type { SharedLimits } from './accounts/shared-limits.ts'
import type { ScanPolicy } from './catalogue/scan-policy.ts'
import type { PublicNames } from './catalogue/public-names.ts'
import type { Database } from './storage/database.ts'
import type { Telemetry } from './community/telemetry.ts'
import type { Transparency } from './log/transparency.ts'
import type { Events } from './webhooks/events.ts'

/** How the operator wants webhooks to be. */
export interface WebhookOptions {
  /** A webhook is switched off when so many of its deliveries failed in a row; 0 for never. 20 unless it is said. */
  readonly offAfterFailures?: number
}

/** What an operation works with: the parts of an open registry. */
export interface Context {
  /** The name of this node in feeds and proofs. */
  readonly origin: string
  /** Raised when a database moves to a new server, so that mirrors notice. */
  readonly epoch: number
  readonly clock: Clock
  readonly database: Database
  readonly changes: ChangeFollower
  readonly counters: Counters
  readonly outbox: Outbox
  readonly events: Events
  readonly search: CatalogueSearch
  readonly copies: CopyIndex
  readonly answers: AnswerCache
  readonly artifacts: Artifacts
  readonly publicNames: PublicNames
  readonly telemetry: Telemetry
  readonly transparency: Transparency
  readonly outgoing: Outgoing
  /** What else goes on, so that work that can wait gives way. */
  readonly traffic: Traffic
  readonly addressLimits: AddressLimits
  /** Limits across the nodes on one database; undefined where a database has one node. */
  readonly sharedLimits: SharedLimits | undefined
  readonly webhooks: WebhookOptions
  /** The plan of new users. */
  readonly defaultPlan: PlanName
  /** What is done with versions that a scan has something against. */
  readonly scanPolicy: ScanPolicy
  /** How much each user on the free plan may store; 0 for any amount. */
  readonly storageQuotaBytes: number
  /** When the registry is copied by itself; undefined for never. */
  readonly backupPlan: BackupPlan | undefined
  /** The registries that are followed, once a mirror is attached. */
  readonly upstreams: Upstreams
  /** What serves the registry to others, once it does. */
  readonly node: ServingNode
  /** What whoever makes the first user has to know. */
  readonly setup: SetupCode
  /** When the registry was opened, in milliseconds since 1970. */
  readonly startedAt: number
  /** Seals what is to be shown to others and must not lie about. */
  readonly secrets: Secrets
  /** Aborted when the registry closes: nothing more is read. */
  readonly closing: AbortSignal
  /** Aborted when nobody is to wait for what may come; what is there can still be read. */
  readonly waits: AbortSignal
}

/** How a call came in, beside who makes it. */
export interface CallOptions {
  /** False for requests that are no use of a skill: HEAD, update checks, mirrors. Downloads are counted otherwise. */
  readonly counts?: boolean
  /** The program that calls, as it names itself. */
  readonly client?: string
  /** The network address that calls, in the form that limits go by; absent for calls inside the process. */
  readonly address?: string
  /** What proves that the caller is a certain agent, or a party to a takedown case. */
  readonly agentToken?: string
  readonly caseToken?: string
  /** The secret of a link that shares a private skill. */
  readonly shareToken?: string
  /** The session that the call is about, as a browser's cookie names it. */
  readonly sessionToken?: string
}
