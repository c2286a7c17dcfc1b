import type { alarmCodes, MirrorReport } from '@skillstead/protocol'
import type { OutgoingOptions } from '@skillstead/core'
import type { Refusal } from './release-types.ts'
import type { MirrorAccounts, MirrorOutbox } from './write-types.ts'

export type {
  FeedEntry,
  FeedPage,
  KnownReleases,
  KnownSkill,
  KnownVersion,
  LogSource,
  Refusal,
  Release,
  SnapshotBatch,
  SnapshotSource,
} from './release-types.ts'

/**
 * When the node contacts upstreams: to check each answer (`online`), in the background after it answered from its own
 * copy (`prefer-local`, the default), or never (`offline`: no socket is opened).
 */
export type NetworkMode = 'online' | 'prefer-local' | 'offline'

/**
 * What an upstream is: a Skillstead node, a registry that has only the base API, a discovery index, a git
 * repository, a folder, or a bundle file.
 */
export type UpstreamKind = 'node' | 'registry' | 'discovery' | 'git' | 'folder' | 'bundle'

/**
 * Which skills a mirror imports: all that pass the filters, only those selected by name, or only those that a caller
 * requested.
 */
export type MirrorMode = 'full' | 'selected' | 'pull-through'

/**
 * Which skills of an upstream are imported. A skill must pass every filter that is set, and match one value of each
 * list.
 */
export interface Filters {
  owners?: readonly string[]
  /** Full or short names; `*` matches any characters. */
  names?: readonly string[]
  keywords?: readonly string[]
  categories?: readonly string[]
  licenses?: readonly string[]
  verified?: boolean
  minSecurityScore?: number
  /** Total size of a version's files in bytes. */
  sizeMax?: number
}

/** The operator's settings for an upstream. */
export interface UpstreamSettings {
  mode: MirrorMode
  filters: Filters
  /** Seconds between scheduled syncs. 0: the upstream is synced only on request. */
  everySeconds: number
  /** Upstreams with a higher priority are synced first, and therefore become the source of a name that several have. */
  priority: number
  /** Maximum age of a signed checkpoint, in seconds; an older one pauses the sync (`freeze`). 0: no limit. */
  maxAgeSeconds: number
  /** Whether the operator configured the key; false: the key was trusted on first use. */
  pinned: boolean
  /** The skills that the mode `selected` imports: full or short names; `*` matches any characters. */
  selected: string[]
}

/** Why the sync of an upstream is paused until the operator decides. */
export type AlarmCode = (typeof alarmCodes)[number]

/** Why the sync of an upstream is paused until an administrator decides. */
export interface Alarm {
  code: AlarmCode
  /** What the mirror found, and what the operator can do. */
  message: string
  /** Milliseconds since 1970. */
  at: number
  /** The verifier keys that the upstream offered in place of the trusted ones. */
  keys?: string[]
  /**
   * Whether the operator must name the key to accept: the upstream offered different keys after the operator had
   * accepted an earlier pause.
   */
  needsKey?: boolean
}

/** Why the latest sync failed. */
export interface LastError {
  code: string
  message: string
  /** Milliseconds since 1970. */
  at: number
}

/** A row of the table `upstreams`, parsed. */
export interface Upstream {
  name: string
  kind: UpstreamKind
  location: string
  settings: UpstreamSettings
  /** The API key for reading the upstream, encrypted. */
  credential: Uint8Array | null
  /** The username of the API key at the upstream, as the upstream reported at the first request. */
  account: string | null
  logOrigin: string | null
  logEpoch: number | null
  /** The trusted verifier keys. */
  keys: string[]
  staged: number
  frontier: Uint8Array
  verified: number
  checkpoint: string | null
  checkpointAt: number | null
  applied: number
  cursor: unknown
  /** Id of the sync run that holds the lease. */
  lease: string | null
  leaseUntil: number
  triedAt: number | null
  syncedAt: number | null
  report: SyncReport | null
  error: LastError | null
  alarm: Alarm | null
  createdAt: number
}

/** A refusal as it is stored until the refused entry or release is imported. */
export interface StoredRefusal extends Refusal {
  /** Milliseconds since 1970. */
  at: number
}

/**
 * The result of one sync. `head` is the position reached: the number of the newest log entry or, for an upstream without
 * a log, the number of releases read. `bytes`: transferred content. `refused` has the first 100 refusals.
 */
export type SyncReport = MirrorReport

/** The progress of a sync. */
export interface SyncProgress {
  upstream: string
  phase: 'staging' | 'applying' | 'listing'
  done: number
  /** Undefined if the total is unknown. */
  total?: number
  secondsLeft?: number
}

/** Options of `Mirror.sync`. */
export interface SyncOptions {
  /** Sync from the beginning: compare everything with what is stored, and import what is missing. */
  full?: boolean
  /** Continue although the sync hides more than one in a hundred skills. */
  allowRemovals?: boolean
  /** The pause reason that the operator has checked; the sync continues from it. */
  accept?: AlarmCode
  /** The verifier key to trust and pin, with a pause reason about keys. */
  key?: string
  /** Called while the sync runs, each time that something was imported. */
  onProgress?(progress: SyncProgress): void
  signal?: AbortSignal
}

/** Options of `Mirror.add`. */
export interface AddOptions extends Partial<Omit<UpstreamSettings, 'pinned'>> {
  /** Default: detected from the location. */
  kind?: UpstreamKind
  /** A verifier key to pin: no other key is trusted. */
  key?: string
  /**
   * Verifier keys that the upstream published, as `findUpstream` read them: trusted from the first sync on, and not
   * pinned.
   */
  keysSeen?: readonly string[]
  /** The API key for reading the upstream; it is stored encrypted. */
  apiKey?: string
}

/** The settings of an upstream that can be changed. `filters` replaces all filters. */
export interface ChangeOptions extends Omit<AddOptions, 'kind' | 'keysSeen'> {
  /** The new location. */
  location?: string
}

/** The columns of an upstream that its status shows unchanged. */
export const shownColumns = [
  ...(['name', 'kind', 'settings', 'account', 'alarm', 'logOrigin', 'logEpoch', 'keys', 'staged'] as const),
  ...(['verified', 'applied', 'checkpointAt', 'triedAt', 'syncedAt'] as const),
] as const

/** The state of an upstream, for the operator. */
export interface UpstreamStatus extends Pick<Upstream, (typeof shownColumns)[number] | 'location'> {
  /** Whether an API key for reading is stored. */
  hasApiKey: boolean
  state: 'new' | 'current' | 'behind' | 'syncing' | 'stopped'
  /**
   * Whether an old checkpoint pauses the sync. False if checkpoints have no time: the mirror cannot detect a freeze
   * then.
   */
  freezeChecked: boolean
  skills: number
  refused: number
  writesWaiting: number
  writesInConflict: number
  /** The next scheduled sync; null if the upstream is synced only on request. */
  nextAt: number | null
  /**
   * Set while a registry without a log is only partly read: the skills and seconds that were left, and when that was
   * estimated.
   */
  estimate: { left: number; secondsLeft: number; at: number } | null
  lastReport: SyncReport | null
  lastError: LastError | null
}

/** Options of a mirror. */
export interface MirrorOptions {
  /** Default: `prefer-local`. The registry's own outgoing requests are controlled by its option `outgoing.offline`. */
  mode?: NetworkMode
  /** Names that are never requested from upstreams: full or short; `*` matches any characters. */
  privateNames?: string[]
  /** Additional trusted certificates, PEM. */
  ca?: string[]
  /** Proxies for requests to upstreams. Git reads them from the environment. Default: none. */
  proxy?: OutgoingOptions['proxy']
  /** Called with errors of background work. */
  onError?: (error: unknown) => void
  /** Called each time the sync of an upstream pauses, with the reason. */
  onAlarm?: (upstream: string, alarm: Alarm) => void
  /** Called with the report of each completed sync, scheduled ones included. */
  onReport?: (report: SyncReport) => void
}

/** A mirror: it syncs skills from upstream registries into this registry. */
export interface Mirror {
  /** Adds an upstream. Nothing is read until its first sync. Throws `name_taken`, `invalid_request`. */
  add(name: string, location: string, options?: AddOptions): Promise<UpstreamStatus>
  /** Lists the upstreams with their states. */
  list(): Promise<UpstreamStatus[]>
  /** Returns the state of one upstream, or of all. Throws `not_found`. */
  status(name?: string): Promise<UpstreamStatus[]>
  /**
   * Syncs an upstream. Throws `offline`, `upstream_failed`, `upstream_timeout`, and `conflict` if another run syncs it
   * or it is paused.
   */
  sync(name: string, options?: SyncOptions): Promise<SyncReport>
  /**
   * Lists the entries and releases of an upstream that were not imported, newest first, with the reasons. Default
   * limit: 100. Throws `not_found`.
   */
  refusals(name: string, limit?: number): Promise<StoredRefusal[]>
  /** The names of the upstreams that skills are mirrored from, by full name. Other names are left out. */
  findSources(fullNames: readonly string[]): Promise<Map<string, string>>
  /**
   * Changes an upstream's settings; omitted settings stay. After the filters become wider, the next `full` sync imports
   * what was skipped; narrower filters remove nothing. Throws `not_found`, `invalid_request`, and `conflict` while a
   * sync runs.
   */
  change(name: string, options: ChangeOptions): Promise<UpstreamStatus>
  /** Removes the upstream; its skills stay. Throws `conflict` while writes for it are pending. */
  remove(name: string): Promise<void>
  /** Starts the scheduled syncs. */
  start(): void
  /** Stops running syncs. The registry stays open. */
  close(): Promise<void>
  readonly mode: NetworkMode
  /** Local changes that are also sent to upstreams. */
  readonly outbox: MirrorOutbox
  readonly accounts: MirrorAccounts
}
