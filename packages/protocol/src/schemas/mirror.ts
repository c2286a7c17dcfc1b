import * as v from 'valibot'
import { Count, Id, Timestamp, boundedArray, text, wholeNumber } from './fields.ts'

const upstreamKinds = ['node', 'registry', 'discovery', 'git', 'folder', 'bundle'] as const
/** Those that have an address of their own; the others are added at the machine. */
export const remoteKinds = ['node', 'registry', 'discovery', 'git'] as const
export const mirrorModes = ['full', 'selected', 'pull-through'] as const
export const alarmCodes = [
  ...(['rollback', 'fork', 'freeze', 'future', 'epoch', 'origin', 'key', 'altered', 'mass_removal'] as const),
] as const
export const writeStates = ['pending', 'delivered', 'conflict', 'dropped'] as const

const itemsMax = 1000
const secondsMax = 366 * 24 * 60 * 60
const Names = boundedArray(text(200), itemsMax)

/** Only what passes every filter that is given is taken, and one value of each list. */
const filterFields = {
  owners: v.optional(Names),
  /** Full or short names, `*` for any run of characters. */
  names: v.optional(Names),
  keywords: v.optional(Names),
  categories: v.optional(Names),
  licenses: v.optional(Names),
  verified: v.optional(v.boolean()),
  minSecurityScore: v.optional(wholeNumber(0, 100)),
  /** The bytes of a version's files together. */
  sizeMax: v.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
}

/** What an administrator says of a registry that is to be followed. */
export const mirrorOptions = {
  /** Found out from the address unless it is said. */
  kind: v.optional(v.picklist(remoteKinds)),
  mode: v.optional(v.picklist(mirrorModes)),
  /** What the mode `selected` takes: full or short names, `*` for any run of characters. */
  selected: v.optional(Names),
  filters: v.optional(v.strictObject(filterFields)),
  /** 0: by hand only. */
  everySeconds: v.optional(wholeNumber(0, secondsMax)),
  priority: v.optional(v.pipe(v.number(), v.integer(), v.minValue(-1_000_000_000), v.maxValue(1_000_000_000))),
  /** How old its newest checkpoint may be; 0 for any age. */
  maxAgeSeconds: v.optional(wholeNumber(0, secondsMax)),
  /** The public key that signs its log: no other is believed. */
  key: v.optional(text(1000)),
  /** Your key there, for private skills; it is kept encrypted. */
  apiKey: v.optional(text(1000)),
}

const Told = v.object({ code: v.string(), message: v.string(), at: Timestamp })

const Refusal = v.object({ subject: v.string(), reason: v.string(), detail: v.string() })

/** What one sync did. */
const MirrorReport = v.object({
  upstream: v.string(),
  /** How many changes came in. */
  applied: Count,
  requests: Count,
  head: Count,
  unchanged: Count,
  /** The first hundred. */
  refused: v.array(Refusal),
  refusedTotal: Count,
  removed: Count,
  bytes: Count,
  durationMs: Count,
})
export type MirrorReport = v.InferOutput<typeof MirrorReport>

/** How a registry that is followed stands. */
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
    /** Whether the key was given, or taken on first use. */
    pinned: v.boolean(),
    selected: v.array(v.string()),
  }),
  state: v.picklist(['new', 'current', 'behind', 'syncing', 'stopped']),
  /** Why it stands still until somebody decides. */
  /** `keys`: those that were offered in place of the believed ones. */
  alarm: v.nullable(v.object({ ...Told.entries, keys: v.array(v.string()) })),
  logOrigin: v.nullable(v.string()),
  logEpoch: v.nullable(v.number()),
  keys: v.array(v.string()),
  /** Entries of its log that are here, that a signed checkpoint holds, and that are in the catalogue. */
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
  /** Null where it is synced by hand. */
  nextAt: v.nullable(Timestamp),
  estimate: v.nullable(v.object({ left: Count, secondsLeft: v.number(), at: Timestamp })),
  lastReport: v.nullable(MirrorReport),
  lastError: v.nullable(Told),
})
export type MirrorStatus = v.InferOutput<typeof MirrorStatus>

/** Something done here that is to be done at an upstream too. */
export const MirrorWrite = v.object({
  id: Id,
  upstream: v.string(),
  /** The skill's full name here, and there. */
  subject: v.string(),
  subjectThere: v.string(),
  kind: v.picklist(['publish', 'fork', 'track', 'review', 'agent-review', 'star']),
  version: v.nullable(v.string()),
  user: v.nullable(v.string()),
  state: v.picklist(writeStates),
  attempts: Count,
  /** Why it did not arrive yet, or what is to be known of it. */
  problem: v.nullable(Told),
  createdAt: Timestamp,
  endedAt: v.nullable(Timestamp),
})
export type MirrorWrite = v.InferOutput<typeof MirrorWrite>
