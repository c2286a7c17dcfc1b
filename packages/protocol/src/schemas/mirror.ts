import * as v from 'valibot'
import { Count, Id, Timestamp, boundedArray, boundedText, wholeNumber } from './fields.ts'
import { PathReason } from './skill.ts'

const upstreamKinds = ['node', 'registry', 'discovery', 'git', 'folder', 'bundle'] as const
/** Kinds of upstream that have a URL. Upstreams of other kinds are added with the CLI on the node's machine. */
const remoteKinds = ['node', 'registry', 'discovery', 'git'] as const
/** Which skills of an upstream are mirrored. */
const mirrorModes = ['full', 'selected', 'pull-through'] as const
/** Reasons to pause the sync of an upstream. */
export const alarmCodes = [
  ...(['rollback', 'fork', 'freeze', 'future', 'epoch', 'origin', 'key', 'altered', 'mass_removal'] as const),
] as const
export const writeStates = ['pending', 'delivered', 'conflict', 'dropped'] as const

const itemsMax = 1000
const secondsMax = 366 * 24 * 60 * 60
const Names = boundedArray(boundedText(200), itemsMax)

/** A version is imported if it passes every filter that is set, which means that it matches one value of each list. */
const filterFields = {
  owners: v.optional(Names),
  /** Full or short names; `*` matches any characters. */
  names: v.optional(Names),
  keywords: v.optional(Names),
  categories: v.optional(Names),
  licenses: v.optional(Names),
  verified: v.optional(v.boolean()),
  minSecurityScore: v.optional(wholeNumber(0, 100)),
  /** Total size of a version's files in bytes. */
  sizeMax: v.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
}

/** Settings of an upstream registry. */
export const mirrorOptions = {
  /** Default: detected from the URL. */
  kind: v.optional(v.picklist(remoteKinds)),
  mode: v.optional(v.picklist(mirrorModes)),
  /** Skills that the mode `selected` imports: full or short names; `*` matches any characters. */
  selected: v.optional(Names),
  filters: v.optional(v.strictObject(filterFields)),
  /** Interval of the sync in seconds; 0: only on request. */
  everySeconds: v.optional(wholeNumber(0, secondsMax)),
  priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(-1_000_000_000), v.maxValue(1_000_000_000))),
  /** Maximum age of the upstream's newest checkpoint in seconds; 0 for any age. */
  maxAgeSeconds: v.optional(wholeNumber(0, secondsMax)),
  /** Public key that must sign the upstream's log; no other key is trusted. */
  key: v.optional(boundedText(1000)),
  /** Your API key at the upstream, for private skills; it is stored encrypted. */
  apiKey: v.optional(boundedText(1000)),
}

const Notice = v.object({ code: v.string(), message: v.string(), at: Timestamp })

const Refusal = v.object({ subject: v.string(), reason: v.string(), detail: v.string() })

const MirrorReport = v.object({
  upstream: v.string(),
  /** Number of imported changes. */
  applied: Count,
  requests: Count,
  head: Count,
  unchanged: Count,
  /** The first hundred refusals; `refusedTotal` counts all. */
  refused: v.array(Refusal),
  refusedTotal: Count,
  /** The first hundred files that were left out of skills (`omitted`), or stored with changed content (`changed`). */
  omitted: v.array(PathReason),
  changed: v.array(PathReason),
  removed: Count,
  bytes: Count,
  durationMs: Count,
})
/** Report of one sync. */
export type MirrorReport = v.InferOutput<typeof MirrorReport>

/** State of an upstream. */
export const MirrorStatus = v.object({
  name: v.string(),
  kind: v.picklist(upstreamKinds),
  location: v.string(),
  settings: v.object({
    mode: v.picklist(mirrorModes),
    filters: v.object(filterFields),
    everySeconds: Count,
    priority: v.number(),
    maxAgeSeconds: Count,
    /** Whether the operator configured the key of the upstream; otherwise the first key that it sent was trusted. */
    pinned: v.boolean(),
    selected: v.array(v.string()),
  }),
  state: v.picklist(['new', 'current', 'behind', 'syncing', 'stopped']),
  /**
   * Why the sync is paused until an administrator decides. `keys`: the keys that the upstream offered instead of the
   * trusted ones.
   */
  alarm: v.nullable(v.object({ ...Notice.entries, keys: v.array(v.string()) })),
  logOrigin: v.nullable(v.string()),
  logEpoch: v.nullable(v.number()),
  keys: v.array(v.string()),
  /**
   * Numbers of log entries: fetched (`staged`), covered by a signed checkpoint (`verified`), and imported (`applied`).
   */
  staged: Count,
  verified: Count,
  applied: Count,
  checkpointAt: v.nullable(Timestamp),
  freezeChecked: v.boolean(),
  triedAt: v.nullable(Timestamp),
  syncedAt: v.nullable(Timestamp),
  skills: Count,
  refused: Count,
  writesWaiting: Count,
  writesInConflict: Count,
  /** Null if the upstream is only synced on request. */
  nextAt: v.nullable(Timestamp),
  estimate: v.nullable(v.object({ left: Count, secondsLeft: v.number(), at: Timestamp })),
  lastReport: v.nullable(MirrorReport),
  lastError: v.nullable(Notice),
})
export type MirrorStatus = v.InferOutput<typeof MirrorStatus>

/** A local change that must also be made at an upstream. */
export const MirrorWrite = v.object({
  id: Id,
  upstream: v.string(),
  /** Full name of the skill on this node, and (`subjectThere`) at the upstream. */
  subject: v.string(),
  subjectThere: v.string(),
  kind: v.picklist(['publish', 'fork', 'track', 'review', 'agent-review', 'star']),
  version: v.nullable(v.string()),
  user: v.nullable(v.string()),
  state: v.picklist(writeStates),
  attempts: Count,
  /** Why the change was not delivered yet, or a warning about the delivered change. */
  problem: v.nullable(Notice),
  createdAt: Timestamp,
  endedAt: v.nullable(Timestamp),
})
export type MirrorWrite = v.InferOutput<typeof MirrorWrite>
