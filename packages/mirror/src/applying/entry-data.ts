import { covers, upstreamRecallsMax } from '@skillstead/core/internal'
import {
  EvaluationResult,
  firstIssueOnly,
  isSkillName,
  isUsername,
  isVersion,
  PublisherIdentity,
  reservedOwners,
  toVisibleText,
  parseForeignJson,
} from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import * as v from 'valibot'
import type { FeedEntry } from '../types.ts'

/** The log that had an entry first: the log's name and epoch, and the entry's number in this log. */
export interface FirstOrigin {
  readonly origin: string
  readonly epoch: number
  readonly seq: number
}

const Id = v.pipe(v.string(), v.check(isEntryId))
const Username = v.pipe(v.string(), v.check(isUsername))
const User = v.object({ id: Id, username: Username })
const Version = v.pipe(v.string(), v.check(isVersion))
const Whole = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const Time = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.transform((text) => Date.parse(text)),
  v.check((epochMs) => Number.isFinite(epochMs)),
)

/** The field of a relayed entry that names the log that had the entry first. */
const First = v.optional(v.object({ origin: v.string(), epoch: Whole, seq: Whole }))
/** The source of a fork. A source with an invalid name is ignored. */
const Source = v.pipe(
  v.nullable(v.object({ fullName: v.string(), version: v.string() })),
  v.transform((source) => (source && isVersion(source.version) && isEntryName(source.fullName) ? source : null)),
)
const Member = v.object({ fullName: v.string(), pinnedVersion: v.nullable(Version), note: v.string() })

/** A recall as a mirror reads it. Relayed entries keep the recall as the upstream wrote it. */
const LoggedRecall = v.object({
  id: Id,
  range: v.pipe(
    v.string(),
    v.check((text) => parseVersionRange(text) !== undefined),
  ),
  reason: v.pipe(
    v.string(),
    v.maxLength(500),
    v.transform((text) => toVisibleText(text).replaceAll(/\s+/g, ' ').trim()),
    v.minLength(1),
  ),
  at: Time,
})

/** Active recalls of one skill, newest first. Drops the recalls beyond the number that a node stores of an upstream. */
export const LoggedRecalls = v.pipe(
  v.array(LoggedRecall),
  v.transform((recalls) => recalls.slice(0, upstreamRecallsMax)),
)

const identity = {
  skill: v.object({ id: Id, name: v.pipe(v.string(), v.check(isSkillName)), fullName: v.string() }),
  owner: v.object({
    id: Id,
    username: v.pipe(
      Username,
      v.check((name) => !reservedOwners.has(name)),
    ),
  }),
  origin: First,
  cut: v.optional(v.array(v.string()), []),
}
const settings = {
  holder: v.boolean(),
  displayName: v.string(),
  description: v.string(),
  category: v.string(),
  license: v.string(),
  keywords: v.array(v.string()),
  repository: v.string(),
  deprecated: v.boolean(),
  deprecationMessage: v.string(),
}

/** The fields that a mirror reads of each type of entry. Core's `catalogue/skills/skill-log.ts` creates the entries. */
const schemas = {
  version: v.pipe(
    v.object({
      ...identity,
      ...settings,
      version: Version,
      publishedAt: Time,
      publisher: User,
      identity: v.optional(PublisherIdentity),
      changelog: v.string(),
      yanked: v.boolean(),
      /** The active recalls that cover the version. */
      recalls: v.optional(LoggedRecalls, []),
      forkedFrom: Source,
    }),
    v.check(({ version, recalls }) => recalls.every((recall) => covers(recall, version))),
  ),
  skill: v.object({ ...identity, ...settings }),
  yank: v.object({ ...identity, version: Version, yanked: v.boolean() }),
  evaluation: v.object({
    ...identity,
    version: Version,
    author: User,
    identity: v.optional(PublisherIdentity),
    byOwner: v.boolean(),
    ranAt: Time,
    postedAt: Time,
    /** Null if the author or an administrator withdrew the result. */
    result: v.nullable(EvaluationResult),
  }),
  recall: v.object({ ...identity, recall: LoggedRecall, ended: v.boolean() }),
  withdrawn: v.object(identity),
  takedown: v.object(identity),
  pack: v.object({
    pack: v.object({ id: Id, slug: v.pipe(v.string(), v.check(isSkillName)) }),
    curator: User,
    origin: First,
    withdrawn: v.boolean(),
    name: v.optional(v.string(), ''),
    description: v.optional(v.string(), ''),
    skills: v.optional(v.array(Member), []),
    part: v.optional(v.object({ number: Whole, of: Whole })),
  }),
} as const

type Type = keyof typeof schemas
type Parsed<T extends Type> = {
  readonly type: T
  readonly entry: FeedEntry
  readonly data: v.InferOutput<(typeof schemas)[T]>
}

export type VersionEntry = Parsed<'version'>
export type SkillEntry = Parsed<'skill'>
export type YankEntry = Parsed<'yank'>
export type EvaluationEntry = Parsed<'evaluation'>
export type RecallEntry = Parsed<'recall'>
export type RemovalEntry = Parsed<'withdrawn'> | Parsed<'takedown'>

export type PackEntry = Parsed<'pack'>

/**
 * A log entry: one public change of a skill or pack, validated. Types: a published version, changed metadata of a
 * skill, a yank, a recall or its end, a result of an evaluation, a withdrawal or takedown, or a pack.
 */
export type ParsedEntry =
  | VersionEntry
  | SkillEntry
  | YankEntry
  | RecallEntry
  | EvaluationEntry
  | RemovalEntry
  | PackEntry

/** Parses the stored text of an entry, whose data is not validated yet. */
export function parseEntry(text: string): FeedEntry {
  return parseForeignJson(text) as FeedEntry
}

/** Validates an entry. Returns a sentence for an invalid entry, undefined for a type that mirrors ignore. */
export function parseFeedEntry(entry: FeedEntry): ParsedEntry | string | undefined {
  if (!isKnownType(entry.type)) return undefined
  const parsed = v.safeParse(schemas[entry.type], entry.data, firstIssueOnly)
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0])
    return `Entry ${entry.seq} is invalid${path === null ? '' : ` in the field ${path}`}.`
  }
  const one = { type: entry.type, entry, data: parsed.output } as ParsedEntry
  return isConsistentEntry(one) ? one : `The subject of entry ${entry.seq} does not match its data.`
}

/** The time of an entry in milliseconds since 1970; `now` if the time is invalid or later than `now`. */
export function toEntryTime({ at }: Pick<FeedEntry, 'at'>, now: number): number {
  const epochMs = Date.parse(at)
  return Number.isFinite(epochMs) ? Math.min(now, epochMs) : now
}

function isEntryName(text: string): boolean {
  const [owner = '', name = '', ...rest] = text.split('/')
  return rest.length === 0 && isUsername(owner) && isSkillName(name)
}

/** Whether a text may be the id of a skill, user or pack that is stored on this node. */
export function isEntryId(text: string): boolean {
  return idPattern.test(text) && text !== operatorId
}

const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** The id of the operator, who has no skills. */
const operatorId = '00000000-0000-0000-0000-000000000000'

function isKnownType(type: string): type is Type {
  return Object.hasOwn(schemas, type)
}

function isConsistentEntry({ type, entry, data }: ParsedEntry): boolean {
  if (type === 'pack') return entry.subject === data.pack.slug
  const { skill, owner } = data
  if (skill.fullName !== `${owner.username}/${skill.name}`) return false
  if ((type === 'version' || type === 'evaluation') && entry.digest === null) return false
  const isOfVersion = type === 'version' || type === 'yank' || type === 'evaluation'
  return entry.subject === (isOfVersion ? `${skill.fullName}@${data.version}` : skill.fullName)
}
