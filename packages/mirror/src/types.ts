import type { Output, alarmCodes, endpoints } from '@skillstead/protocol'
import type { MirrorAccounts, MirrorOutbox } from './write-types.ts'

export type { KnownReleases, KnownSkill, KnownVersion, Release, SnapshotSource } from './release-types.ts'

/**
 * Whether upstreams are asked: whenever it helps, behind what is answered from here (`prefer-local`, as it is unless it
 * is said), or never: `offline` opens no socket.
 */
export type NetworkMode = 'online' | 'prefer-local' | 'offline'

/** How an upstream is spoken to. */
export type UpstreamKind = 'node' | 'registry' | 'discovery' | 'git' | 'folder' | 'bundle'

/** What is taken: all that passes the filters, only what was chosen by name, or what somebody asked for. */
export type MirrorMode = 'full' | 'selected' | 'pull-through'

/** What is taken of an upstream; a skill must pass every filter that is given, and one value of each list. */
export interface Filters {
  owners?: readonly string[]
  /** Full or short names; `*` stands for any run of characters. */
  names?: readonly string[]
  keywords?: readonly string[]
  categories?: readonly string[]
  licenses?: readonly string[]
  verified?: boolean
  minSecurityScore?: number
  /** The bytes of a version's files together. */
  sizeMax?: number
}

/** What the operator set for an upstream. */
export interface UpstreamSettings {
  mode: MirrorMode
  filters: Filters
  /** 0: by hand only. */
  everySeconds: number
  /** The higher is synced first, and so gets a name that two of them have. */
  priority: number
  /** How old a signed checkpoint may be before it counts as frozen; 0 for no limit. */
  maxAgeSeconds: number
  /** True where the operator gave the key; false where it was taken on first use. */
  pinned: boolean
  /** What `selected` takes: full or short names, `*` as wildcard. */
  selected: string[]
}

/** Why the sync of an upstream is paused until the operator decides. */
export type AlarmCode = (typeof alarmCodes)[number]

export interface Alarm {
  code: AlarmCode
  /** What was seen, and what to do about it. */
  message: string
  /** Milliseconds since 1970. */
  at: number
  /** The verifier keys that were offered in place of those believed. */
  keys?: string[]
  /** Whether its acceptance must name the key: other keys were offered while the operator accepted an earlier alarm. */
  needsKey?: boolean
}

/** Why the newest run failed. */
export interface LastError {
  code: string
  message: string
  /** Milliseconds since 1970. */
  at: number
}

/** An upstream as it is stored, parsed. */
export interface Upstream {
  name: string
  kind: UpstreamKind
  location: string
  settings: UpstreamSettings
  /** The API key to read with, still sealed. */
  credential: Uint8Array | null
  /** Whose key that is there, as the upstream said when it was first asked. */
  account: string | null
  logOrigin: string | null
  logEpoch: number | null
  /** The verifier keys that are believed. */
  keys: string[]
  staged: number
  frontier: Uint8Array
  verified: number
  checkpoint: string | null
  checkpointAt: number | null
  applied: number
  cursor: unknown
  /** The run that has it. */
  lease: string | null
  leaseUntil: number
  triedAt: number | null
  syncedAt: number | null
  report: SyncReport | null
  error: LastError | null
  alarm: Alarm | null
  createdAt: number
}

/** One entry of a node's feed. */
export type FeedEntry = Output<(typeof endpoints)['getFeed']>['entries'][number]

export interface FeedPage {
  origin: string
  epoch: number
  entries: FeedEntry[]
  next: number
  head: number
  checkpoint: string | null
}

/** Where a log is read: a node, or a bundle. */
export interface LogSource {
  /** True of what was written down once, such as a bundle: it may be old, and end before what is here already. */
  readonly isCopy?: boolean
  /** What comes after `since`. */
  readPage(since: number): Promise<FeedPage>
  /** Those of the blobs that there are, in any order; whoever asks checks what comes. */
  readBlobs(digests: readonly string[]): AsyncIterable<{ digest: string; bytes: Uint8Array }>
  /** The verifier keys that it names itself. */
  readKeys(): Promise<string[]>
  /** Whether the owner of a skill is verified there; absent where nobody can say. */
  isVerified?(fullName: string): Promise<boolean>
  /** How many requests went out so far. */
  readonly requests: number
}

export interface Refusal {
  subject: string
  reason: string
  detail: string
}

/** A refusal as it is kept until what was refused comes in. */
export interface StoredRefusal extends Refusal {
  /** Milliseconds since 1970. */
  at: number
}

/** What one run did. */
export interface SyncReport {
  upstream: string
  /** How many changes came in. */
  applied: number
  requests: number
  /** The position reached: of a log its newest entry, of a snapshot the number of releases seen. */
  head: number
  unchanged: number
  /** The first hundred. */
  refused: Refusal[]
  refusedTotal: number
  removed: number
  /** What was transferred of content. */
  bytes: number
  durationMs: number
}

export interface SyncProgress {
  upstream: string
  phase: 'staging' | 'applying' | 'listing'
  done: number
  /** Undefined where nobody knows. */
  total?: number
  secondsLeft?: number
}

export interface SyncOptions {
  /** From the beginning again: what is there is compared, and what lacks comes in. */
  full?: boolean
  /** Goes on with a run that hides more skills than one in a hundred. */
  allowRemovals?: boolean
  /** The alarm that the operator has looked into, and goes on from. */
  accept?: AlarmCode
  /** The verifier key to believe and to pin, with an alarm about keys. */
  key?: string
  onProgress?(progress: SyncProgress): void
  signal?: AbortSignal
}

export interface AddOptions extends Partial<Omit<UpstreamSettings, 'pinned'>> {
  /** Found out from the location unless it is said. */
  kind?: UpstreamKind
  /** A verifier key to pin: no other is believed. */
  key?: string
  /** Verifier keys that it named itself, as `findUpstream` read them: believed from the first sync on, and not pinned. */
  keysSeen?: readonly string[]
  /** The API key to read with; it is stored encrypted. */
  apiKey?: string
}

/** What can be changed of an upstream. `filters` stands for all filters. */
export interface ChangeOptions extends Omit<AddOptions, 'kind' | 'keysSeen'> {
  /** Where it is now. */
  location?: string
}

/** How an upstream stands, for the operator. */
export interface UpstreamStatus {
  name: string
  kind: UpstreamKind
  location: string
  settings: UpstreamSettings
  /** Whether an API key to read with is kept, and whose it is there, once it said. */
  hasApiKey: boolean
  account: string | null
  state: 'new' | 'current' | 'behind' | 'syncing' | 'stopped'
  alarm: Alarm | null
  /** The log's name and epoch; null for what has no log. */
  logOrigin: string | null
  logEpoch: number | null
  keys: string[]
  staged: number
  verified: number
  applied: number
  /** Milliseconds since 1970: when the upstream signed its newest checkpoint; null where it does not say. */
  checkpointAt: number | null
  /** False where the upstream gives no signed time: a freeze cannot be seen then. */
  freezeChecked: boolean
  triedAt: number | null
  syncedAt: number | null
  skills: number
  refused: number
  writesWaiting: number
  writesInConflict: number
  /** The next scheduled run; null when it runs by hand only. */
  nextAt: number | null
  /** Of a reading of a registry without a log that is not at its end: how many skills and seconds were left, and when. */
  estimate: { left: number; secondsLeft: number; at: number } | null
  lastReport: SyncReport | null
  lastError: LastError | null
}

export interface MirrorOptions {
  /** `prefer-local` unless it is said. The registry's own way out is closed by its `outgoing.offline`. */
  mode?: NetworkMode
  /** Names that are never asked upstream: full or short, `*` as wildcard. */
  privateNames?: string[]
  /** The `fetch` under each upstream's own; for tests. */
  fetch?: typeof fetch
  /** Certificates to trust besides the system's, PEM. */
  ca?: string[]
  /** Waits out what an upstream asks for; for tests. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>
  /** Told of what goes wrong behind the caller's back. */
  onError?: (error: unknown) => void
  /** Told of each alarm as it is raised. */
  onAlarm?: (upstream: string, alarm: Alarm) => void
  /** Told of each sync that came to its end, also of those by schedule. */
  onReport?: (report: SyncReport) => void
}

/** Follows other registries into this one. */
export interface Mirror {
  /** Throws `name_taken`, `invalid_request`. Nothing is read until the first sync. */
  add(name: string, location: string, options?: AddOptions): Promise<UpstreamStatus>
  list(): Promise<UpstreamStatus[]>
  /** Of one upstream, or of all. Throws `not_found`. */
  status(name?: string): Promise<UpstreamStatus[]>
  /** Throws `offline`, `upstream_failed`, `upstream_timeout`, `conflict` (another run has it, or it is paused). */
  sync(name: string, options?: SyncOptions): Promise<SyncReport>
  /** What did not come in of an upstream and why, the newest first; 100 unless it is said. Throws `not_found`. */
  refusals(name: string, limit?: number): Promise<StoredRefusal[]>
  /**
   * Changes what was set for an upstream; what is not given stays. Wider filters bring what was passed over with the next
   * `full` sync, narrower ones take nothing away. Throws `not_found`, `invalid_request`, `conflict` while a sync runs.
   */
  change(name: string, options: ChangeOptions): Promise<UpstreamStatus>
  /** Forgets the upstream; what came from it stays. Throws `conflict` while writes wait for it. */
  remove(name: string): Promise<void>
  /** Begins the schedules. */
  start(): void
  /** Ends what is running. The registry stays open. */
  close(): Promise<void>
  readonly mode: NetworkMode
  /** What was written here for upstreams. */
  readonly outbox: MirrorOutbox
  readonly accounts: MirrorAccounts
}
