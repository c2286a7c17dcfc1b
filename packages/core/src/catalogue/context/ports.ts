import type {
  Access,
  EventData,
  EventName,
  Policy,
  PolicyRefusal,
  Provenance,
  QuarantinedVersion,
  Security,
} from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { CallOptions } from '../../kernel/call-options.ts'
import type { Caller, UserCaller } from '../../kernel/caller.ts'
import type { LogDraft } from '../../log/append-change.ts'
import type { TreeReader } from '../../log/log-tree.ts'
import type { QuarantineItemRow, SkillRow, Tables, VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { Visible } from '../../visibility/decisions.ts'
import type { PackageFile } from '../versions/skill-package.ts'
import type { MirroredInstalls, UsedSkill } from './use-counts.ts'

/*
 * The interfaces by which the catalogue calls higher layers and extensions, most of them in the transaction of a
 * change, and the types of the data that it passes. `registry.ts` passes the implementations, so that the catalogue
 * imports nothing from higher layers.
 */

/** Counts downloads; implemented by `community/download-counters.ts`. */
export interface DownloadCounter {
  /**
   * Counts a download of a version, and also an install if `kind` is an install. `client` is the name that the client
   * reports. Of each address, only the first download and the first install of a day count. With `recordInstallers`, an
   * install by the user `userId` is stored.
   */
  countDownload(
    skill: UsedSkill & { readonly version: string },
    by?: Pick<CallOptions, 'client' | 'kind' | 'address'> & { readonly userId?: string | null },
  ): void
}

/** Changes in the number of other users' contributions to a skill. */
export interface Credit {
  readonly downloads?: number
  readonly stars?: number
  /** The change in the number of reviews. */
  readonly reviews?: number
  /** The change in the sum of the ratings, each minus three stars, in thousandths of a half star. */
  readonly points?: number
}

/** The reputation of authors; implemented by `community/skill-credit.ts`. */
export interface ReputationPort {
  creditSkill(trx: WriteTransaction, skillId: string, credit: Credit, at: number): Promise<void>
  changeStanding(
    trx: WriteTransaction,
    change: { readonly before: SkillRow | undefined; readonly skill: SkillRow; readonly at: number },
  ): Promise<void>
  recountCredit(trx: WriteTransaction, skillId: string): Promise<void>
}

/** Records which agent published a version; implemented by `community/agent-actions.ts`. */
export interface AgentPort {
  attributeVersion(
    trx: WriteTransaction,
    version: Pick<VersionRow, 'skill_id' | 'version' | 'published_at'>,
    by: { readonly user: UserCaller; readonly options: CallOptions },
  ): Promise<void>
}

/** An event for the webhooks that subscribe to it, and for e-mail notices. */
export interface EmittedEvent<Name extends EventName = EventName> {
  readonly event: Name
  /** Makes the data of the event. Called only if the event has receivers. */
  readonly data: () => EventData<Name> | Promise<EventData<Name>>
  /** Limits the event to this user, or this organisation's managers. Default: all who may see the skill. */
  readonly ownerId?: string
  /** The ids of the only users who receive the event. Called only if a webhook subscribes, or e-mail is sent. */
  readonly userIds?: () => Promise<readonly string[]>
  /** Whether only administrators receive the event. */
  readonly administrators?: boolean
  /** The current row of the skill that the event is about. */
  readonly skill?: Visible
}

/** Emits events; implemented by `webhooks/events.ts`. */
export interface Events {
  /** Stores a delivery for each subscriber in the transaction of the change; deliveries are sent after the commit. */
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
  /** Adds to log entries about versions of a mirrored skill the log that first had each version. */
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
  /** The log that {@link proveVersion} proves versions of the skill in; undefined if there is none. */
  readerOf(db: Kysely<Tables>, skill: Pick<SkillRow, 'origin_upstream'>): TreeReader | undefined
}

/** The fields of a skill, rather than of a version, that a request sets; undefined fields are unchanged. */
export interface SkillSettings {
  readonly displayName?: string
  readonly description?: string
  readonly category?: string
  readonly license?: string
  readonly keywords?: readonly string[]
  readonly visibility?: SkillRow['visibility']
  readonly deprecated?: boolean
  readonly deprecationMessage?: string
  readonly repository?: string
}

/** The question to a second-opinion service about a version. */
export interface OpinionQuestion {
  /** SHA-256 over the list of the version's files. */
  readonly digest: string
  readonly fullName: string
  readonly security: Security
  readonly files: readonly PackageFile[]
}

/** The file that an installer downloads for a version: SKILL.md alone if there are no other files, else a zip. */
export interface Artifact {
  readonly type: 'skill-md' | 'archive'
  /** Digest of the downloaded bytes. */
  readonly digest: string
  /** Digest of the version as a zip, which some installers need even for a SKILL.md alone. */
  readonly zipDigest: string
  /** Whether a plugin with the version's files at its root would run or configure more than the skill. */
  readonly isPluginRoot: boolean
}

/** The artifacts of versions by content digest, computed once per process. */
export interface Artifacts {
  /** Describes artifacts: null for a version whose SKILL.md installers cannot read. */
  describe(versions: readonly Pick<VersionRow, 'id' | 'digest'>[]): Promise<ReadonlyMap<string, Artifact | null>>
}

/** A change of a skill that policies judge, after it was applied in its transaction. */
export interface Judged {
  readonly skill: SkillRow
  /** The skill before the change; undefined for a new skill. */
  readonly before: SkillRow | undefined
  readonly publisherId: string
  /** The new version; undefined if only settings change. */
  readonly version?: {
    readonly size: number
    readonly verdict: Security['verdict']
    readonly access: Access
    /** Whether the version has access that its baseline, an earlier version, lacks, or is the first version. */
    readonly widens: boolean
  }
}

/** The result of the policies for a change. */
export interface PolicyJudgement {
  readonly refusals: readonly PolicyRefusal[]
  /** Number of approvals that a version needs. */
  readonly approvals: number
}

/** The policies that judge changes of skills; implemented by `governance/policies.ts`. */
export interface PolicyPort {
  /** The policy that applies to a skill, which need not exist yet. */
  read(trx: WriteTransaction, skill: Pick<SkillRow, 'full_name' | 'owner_id'>): Promise<Policy>
  judge(trx: WriteTransaction, policy: Policy, change: Judged): Promise<PolicyJudgement>
  /** Removes the policy of a skill. */
  forget(trx: WriteTransaction, skillId: string): Promise<void>
  /** The ids of the users who may review a quarantined version. */
  findReviewers(db: Kysely<Tables>, item: QuarantineItemRow): Promise<string[]>
  /** The approvals that a quarantined version needs and has; undefined if the version waits for an administrator. */
  countApprovals(
    db: Kysely<Tables>,
    item: QuarantineItemRow,
  ): Promise<Pick<QuarantinedVersion, 'approvals'> | undefined>
}
