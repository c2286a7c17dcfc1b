import type { AccountsContext } from '../accounts/accounts-context.ts'
import type { ResponseCache } from '../kernel/response-cache.ts'
import type { ChangeFollower } from '../log/change-follower.ts'
import type { LogContext } from '../log/log-context.ts'
import type { CatalogueSearch } from '../search/catalogue-search.ts'
import type { AgentPort, Events, ReputationPort, UpstreamLogs, UpstreamQueue } from './catalogue-ports.ts'
import type { CopyIndex } from './copy-index.ts'
import type { Artifacts } from './discovery-artifacts.ts'
import type { PublicNames } from './public-names.ts'
import type { ScanPolicy } from './scan-policy.ts'
import type { UsedSkill } from './use-counts.ts'

/** Counts downloads; implemented by `community/download-counters.ts`. */
interface DownloadCounter {
  /** `client` is the program that downloads, as it reports itself. Each address counts once a day. */
  countDownload(skill: UsedSkill, client?: string, address?: string): void
}

/** Dependencies of skills, versions and packs. */
export interface CatalogueContext extends AccountsContext, LogContext {
  readonly changes: ChangeFollower
  readonly search: CatalogueSearch
  readonly copies: CopyIndex
  readonly answers: ResponseCache
  readonly artifacts: Artifacts
  readonly publicNames: PublicNames
  /** The action for versions that the scanner flags. */
  readonly scanPolicy: ScanPolicy
  /** Storage of each user on the free plan, in bytes; 0 for no limit. */
  readonly storageQuotaBytes: number
  /** Load of this process, so that background work yields. */
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
}
