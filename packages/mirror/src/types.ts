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
 * When the node contacts upstreams: before each answer, to check it (`online`), in the background after it answered
 * from its own copy (`prefer-local`, the default), or never (`offline`: no socket is opened).
 */
export type NetworkMode = 'online' | 'prefer-local' | 'offline'

/**
 * What an upstream is: a Skillstead node, a registry that has only the base API, a discovery index, a git
 * repository, a folder, or a bundle file.
 */
export type UpstreamKind = 'node' | 'registry' | 'discovery' | 'git' | 'folder' | 'bundle'

/**
 * Which skills a mirror imports: all that pass the filters, only those that the operator selected by name, or only
 * those that a caller requested.
 */
export type MirrorMode = 'full' | 'selected' | 'pull-through'

/**
 * Which skills of an upstream are imported. A skill must pass every filter that is set; it passes a list if it matches
 * one value of the list.
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
  /** Maximum total size of a version's files in bytes. */
  sizeMax?: number
}

/** The operator's settings for an upstream. */
export interface UpstreamSettings {
  mode: MirrorMode
  filters: Filters
  /** Seconds between scheduled syncs. 0: the upstream is synced only on request. */
  everySeconds: number
  /** Upstreams with a higher priority are synced first, and so become the source of a name that several have. */
  priority: number
  /** Maximum age of a signed checkpoint, in seconds. An older checkpoint pauses the sync (`freeze`). 0: no limit. */
  maxAgeSeconds: number
  /** Whether the operator configured the verifier key. False: the key was trusted on first use. */
  pinned: boolean
  /** The skills that the mode `selected` imports: full or short names; `*` matches any characters. */
  selected: string[]
}

/** The code of the reason for which the sync of an upstream is paused until the operator decides. */
export type AlarmCode = (typeof alarmCodes)[number]

/** The pause of the sync of an upstream, until an administrator accepts its reason. */
export interface Alarm {
  code: AlarmCode
  /** What the mirror found, and what the operator can do. */
  message: string
  /** Milliseconds since 1970. */
  at: number
  /** The verifier keys that the upstream offered in place of the trusted keys. */
  keys?: string[]
  /**
   * Whether the operator must name the key to accept, because the upstream offered other keys after the operator had
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
  /** The username of the API key's owner at the upstream, as the first request reported it. */
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

/** A stored refusal. It is deleted when the refused entry or release is imported. */
export interface StoredRefusal extends Refusal {
  /** Milliseconds since 1970. */
  at: number
}

/**
 * The result of one sync. `head` is the position reached: the number of the newest log entry or, for an upstream
 * without a log, the number of releases read. `bytes`: transferred content. `refused` has the first 100 refusals.
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
  /** Sync from the beginning: compare the whole upstream with the stored skills, and import what is missing. */
  full?: boolean
  /** Continue although the sync hides more skills than allowed: 1 % of the upstream's, at least 5 and at most 20. */
  allowRemovals?: boolean
  /** The pause reason that the operator has checked and accepts, so that the sync continues. */
  accept?: AlarmCode
  /** The verifier key to trust and pin, if the accepted pause reason is about keys. */
  key?: string
  /** Called while the sync runs, each time that entries or skills were read or imported. */
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
   * Verifier keys that the upstream published, as `findUpstream` read them. They are trusted from the first sync on,
   * but not pinned.
   */
  keysSeen?: readonly string[]
  /** The API key for reading the upstream; it is stored encrypted. */
  apiKey?: string
}

/** The settings of an upstream that the operator can change. `filters` replaces all filters. */
export interface ChangeOptions extends Omit<AddOptions, 'kind' | 'keysSeen'> {
  /** The new location. */
  location?: string
}

/** The columns of an upstream that its status contains unchanged. */
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
   * Whether an old checkpoint pauses the sync. False if the checkpoints have no time or there is no maximum age: the
   * mirror then cannot detect a freeze.
   */
  freezeChecked: boolean
  skills: number
  refused: number
  writesWaiting: number
  writesInConflict: number
  /** The next scheduled sync, in milliseconds since 1970; null if the upstream is synced only on request. */
  nextAt: number | null
  /**
   * Set while a registry without a log is only partly read: the number of skills that are left, the seconds that they
   * need, and the time of this estimate.
   */
  estimate: { left: number; secondsLeft: number; at: number } | null
  lastReport: SyncReport | null
  lastError: LastError | null
}

/** Options of a mirror. */
export interface MirrorOptions {
  /** When to contact upstreams. Default: `prefer-local`. For other requests, see the registry's `outgoing.offline`. */
  mode?: NetworkMode
  /** Names that are never requested from upstreams: full or short; `*` matches any characters. */
  privateNames?: string[]
  /** Certificates to trust in addition to those of the system, PEM. */
  ca?: string[]
  /** Proxies for requests to upstreams. Default: none. Git instead uses the proxies in the environment. */
  proxy?: OutgoingOptions['proxy']
  /** Called with errors of background work. */
  onError?: (error: unknown) => void
  /** Called each time the sync of an upstream pauses, with the reason. */
  onAlarm?: (upstream: string, alarm: Alarm) => void
  /** Called with the report of each completed sync, including scheduled syncs. */
  onReport?: (report: SyncReport) => void
}

/** A mirror: it syncs skills from upstream registries into this registry. */
export interface Mirror {
  /** Adds an upstream. Nothing is imported before its first sync. Throws `name_taken` and `invalid_request`. */
  add(name: string, location: string, options?: AddOptions): Promise<UpstreamStatus>
  /** Lists the upstreams with their states. */
  list(): Promise<UpstreamStatus[]>
  /** Returns the state of one upstream, or of all. Throws `not_found`. */
  status(name?: string): Promise<UpstreamStatus[]>
  /**
   * Syncs an upstream. Throws `offline`, `upstream_failed`, `upstream_timeout`, and `conflict` if another run syncs the
   * upstream or its sync is paused.
   */
  sync(name: string, options?: SyncOptions): Promise<SyncReport>
  /**
   * Lists the entries and releases of an upstream that were not imported, newest first, with the reasons. Default
   * limit: 100. Throws `not_found`.
   */
  refusals(name: string, limit?: number): Promise<StoredRefusal[]>
  /** The names of the upstreams of mirrored skills, by the skill's full name. Names of other skills are left out. */
  findSources(fullNames: readonly string[]): Promise<Map<string, string>>
  /**
   * Changes an upstream's settings; omitted settings stay. After filters were widened, the next `full` sync imports the
   * skills that they excluded before; narrowed filters remove no skills. Throws `not_found`, `invalid_request`, and
   * `conflict` while a sync runs.
   */
  change(name: string, options: ChangeOptions): Promise<UpstreamStatus>
  /** Removes an upstream. Its skills stay. Throws `conflict` while writes for it are pending or in conflict. */
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
