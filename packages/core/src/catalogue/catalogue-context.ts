import type { EventData, EventName, Provenance } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { Caller, UserCaller } from '../kernel/caller.ts'
import type { ResponseCache } from '../kernel/response-cache.ts'
import type { LogDraft } from '../log/append-change.ts'
import type { ChangeFollower } from '../log/change-follower.ts'
import type { LogContext } from '../log/log-context.ts'
import type { CatalogueSearch } from '../search/catalogue-search.ts'
import type { SecondStage } from '../search/reranker.ts'
import type { SkillRow, Tables, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CopyIndex } from './copy-index.ts'
import type { Artifacts } from './discovery-artifacts.ts'
import type { FindDocumented } from './documented-skills.ts'
import type { SecondOpinion } from './second-opinion.ts'
import type { ScanRules } from './scan-rules.ts'
import type { ScanPolicy } from './scan-policy.ts'
import type { SkillSettings } from './skill-rows.ts'
import type { Upstreams } from './upstream-port.ts'
import type { MirroredInstalls, PublicNames, UsedSkill } from './use-counts.ts'
import type { Visible } from '../visibility/decisions.ts'

/** Counts downloads; implemented by `community/download-counters.ts`. */
interface DownloadCounter {
  /** `client` is the name that the downloading program reports. Each IP address counts once a day. */
  countDownload(skill: UsedSkill, client?: string, address?: string): void
}

/** The services that functions for skills, versions and packs use. */
export interface CatalogueContext extends AccountsContext, LogContext {
  readonly changes: ChangeFollower
  readonly search: CatalogueSearch
  /** Orders the best hits of a search again, if the operator configured it. */
  readonly secondStage: SecondStage | undefined
  readonly copies: CopyIndex
  readonly answers: ResponseCache
  readonly findDocumented: FindDocumented
  readonly artifacts: Artifacts
  readonly publicNames: PublicNames
  /** The rules that scans apply. */
  readonly scanRules: ScanRules
  /** The action for versions that the scanner flags. */
  readonly scanPolicy: ScanPolicy
  /** Asked about versions that the scan leaves in doubt, if the operator configured it. */
  readonly secondOpinion: SecondOpinion | undefined
  /** Storage of each user on the free plan, in bytes; 0 for no limit. */
  readonly storageQuotaBytes: number
  /** The load of this process. Background work yields while it is high. */
  readonly traffic: { calls: number }
  /** Aborted when the registry closes. */
  readonly closing: AbortSignal
  /** Aborted when long polls must end. */
  readonly waits: AbortSignal
  readonly counters: DownloadCounter
  readonly reputation: ReputationPort
  readonly agents: AgentPort
  readonly events: Events
  readonly upstreamQueue: UpstreamQueue
  readonly upstreamLogs: UpstreamLogs
  /** The upstreams of a mirror, once one is attached. */
  readonly upstreams: Upstreams
}

/*
 * What packages above the catalogue add to a change, in its transaction. The catalogue calls these interfaces and
 * `registry.ts` passes the implementations, so that the catalogue imports nothing above it.
 */

/** Changes in the number of other users' contributions to a skill. */
export interface Credit {
  readonly downloads?: number
  readonly stars?: number
  /** The number of reviews, and the sum of their ratings above or below three stars, in thousandths of a half star. */
  readonly reviews?: number
  readonly points?: number
}

/** The reputation of authors; implemented by `community/skill-credit.ts`. */
interface ReputationPort {
  creditSkill(trx: WriteTransaction, skillId: string, credit: Credit, at: number): Promise<void>
  changeStanding(
    trx: WriteTransaction,
    change: { readonly before: SkillRow | undefined; readonly skill: SkillRow; readonly at: number },
  ): Promise<void>
  recountCredit(trx: WriteTransaction, skillId: string): Promise<void>
}

/** The agents that publish; implemented by `community/agent-actions.ts`. */
interface AgentPort {
  attributeVersion(
    trx: WriteTransaction,
    version: Pick<VersionRow, 'skill_id' | 'version' | 'published_at'>,
    by: { readonly user: UserCaller; readonly options: CallOptions },
  ): Promise<void>
}

/** An event for the webhooks that subscribe to it. */
export interface EmittedEvent<Name extends EventName = EventName> {
  readonly event: Name
  /** Called only when a webhook subscribes. */
  readonly data: () => EventData<Name> | Promise<EventData<Name>>
  /** The only user whose webhooks receive the event. Default: every user who may see the skill. */
  readonly ownerId?: string
  /** Whether only administrators receive the event. */
  readonly administrators?: boolean
  /** The current row of the skill that the event is about. */
  readonly skill?: Visible
}

/** Emits events; implemented by `webhooks/events.ts`. */
export interface Events {
  /** Writes a delivery for each subscriber in the transaction of the change: it is sent only if the change commits. */
  emit<Name extends EventName>(trx: WriteTransaction, event: EmittedEvent<Name>): Promise<void>
}

/** A version that was just published. */
export interface PublishedHere {
  readonly skill: SkillRow
  readonly version: Pick<VersionRow, 'version' | 'digest'>
  readonly userId: string
  readonly settings: SkillSettings
  readonly forkedFrom?: { readonly fullName: string } | undefined
}

export interface SettingsChange {
  readonly before: SkillRow
  readonly skill: SkillRow
  readonly userId: string
  readonly settings: SkillSettings
}

/** A star or a review of a mirrored skill. */
export type Opinion = { readonly skill: SkillRow; readonly caller: Caller } & (
  | { readonly kind: 'star'; readonly payload: { readonly starred: boolean } }
  | {
      readonly kind: 'review'
      readonly payload: { readonly rating: number; readonly title: string; readonly body: string }
    }
  | {
      readonly kind: 'agent-review'
      readonly payload: { readonly agentKey: string; readonly rating: number; readonly content: string }
    }
)

/** Queues writes to the upstreams of mirrored skills; implemented by the mirror extension. */
export interface UpstreamQueue {
  queuePublish(trx: WriteTransaction, published: PublishedHere): Promise<void>
  queueSettings(trx: WriteTransaction, change: SettingsChange): Promise<void>
  queueOpinion(trx: WriteTransaction, opinion: Opinion): Promise<void>
  queueInstalls(trx: WriteTransaction, installs: Iterable<MirroredInstalls>): Promise<void>
}

/** The logs of the upstreams of mirrored skills; implemented by the mirror extension. */
export interface UpstreamLogs {
  /** Log entries of a mirrored skill, with the first origin of each version added. */
  addFirstOrigins(
    trx: WriteTransaction,
    skill: Pick<SkillRow, 'origin_upstream'>,
    drafts: readonly LogDraft[],
  ): Promise<LogDraft[]>
  /** The proof that an upstream's log contains a version; undefined if no upstream log contains the version. */
  proveVersion(
    db: Kysely<Tables>,
    skill: Pick<SkillRow, 'origin_upstream'>,
    subject: string,
  ): Promise<NonNullable<Provenance['log']> | undefined>
}
