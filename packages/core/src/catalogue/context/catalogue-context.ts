import type { AccountsContext } from '../../accounts/accounts-context.ts'
import type { ResponseCache } from '../../kernel/response-cache.ts'
import type { ChangeFollower } from '../../log/change-follower.ts'
import type { LogContext } from '../../log/log-context.ts'
import type { CatalogueSearch } from '../../search/catalogue-search.ts'
import type { SecondStage } from '../../search/reranker.ts'
import type { CopyIndex } from '../sketches/copy-index.ts'
import type { FindDocumented } from './documented-skills.ts'
import type { ScanRules } from './scan-rules.ts'
import type { ScanPolicy } from './scan-policy.ts'
import type {
  AgentPort,
  Artifacts,
  DownloadCounter,
  Events,
  OpinionQuestion,
  PolicyPort,
  ReputationPort,
  UpstreamLogs,
  UpstreamQueue,
} from './ports.ts'
import type { Upstreams } from './upstream-port.ts'
import type { PublicNames } from './use-counts.ts'

/** Asks the second-opinion service about versions; implemented by `skills/second-opinion.ts`. */
interface SecondOpinionPort {
  /** Waits until an opinion on the version is stored, or a time limit passes. Never throws. */
  consult(context: CatalogueContext, question: OpinionQuestion & { readonly userId: string }): Promise<void>
}

/** The services that functions for skills, versions and packs use. */
export interface CatalogueContext extends AccountsContext, LogContext {
  readonly changes: ChangeFollower
  readonly search: CatalogueSearch
  /** Reranks the best hits of a search. Undefined if the operator configured no second stage. */
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
  /** The judge of versions that the scan leaves in doubt. Undefined if the operator configured no second opinion. */
  readonly secondOpinion: SecondOpinionPort | undefined
  /** Maximum storage of each user on the free plan, in bytes; 0 for no limit. */
  readonly storageQuotaBytes: number
  /** Whether owners see which users installed their skills. */
  readonly recordInstallers: boolean | undefined
  /** The number of calls since the start of this process. Background work slows down while the number grows. */
  readonly traffic: { calls: number }
  /** Receives errors whose text callers may not see, for the log of the operator. */
  readonly onError: (error: unknown) => void
  /** Aborted when the registry closes. */
  readonly closing: AbortSignal
  /** Aborted to end long polls, before the registry closes. */
  readonly waits: AbortSignal
  readonly counters: DownloadCounter
  readonly reputation: ReputationPort
  readonly agents: AgentPort
  readonly events: Events
  readonly policies: PolicyPort
  readonly upstreamQueue: UpstreamQueue
  readonly upstreamLogs: UpstreamLogs
  /** The access to upstream registries, which a mirror attaches. */
  readonly upstreams: Upstreams
}
