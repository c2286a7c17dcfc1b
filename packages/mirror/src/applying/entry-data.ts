import { firstIssueOnly, isSkillName, isUsername, isVersion, reservedOwners } from '@skillstead/protocol'
import * as v from 'valibot'
import { isId } from './mirrored-ids.ts'
import type { FeedEntry } from './mirrored-types.ts'

/** Who had an entry first: the name and epoch of its log, and the entry's number there. */
export interface FirstOrigin {
  readonly origin: string
  readonly epoch: number
  readonly seq: number
}

const Id = v.pipe(v.string(), v.check(isId))
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

/** What an entry that was relayed says of where it was first. */
const First = v.optional(v.object({ origin: v.string(), epoch: Whole, seq: Whole }))
/** Anything else than the name of a version is no source. */
const Source = v.pipe(
  v.nullable(v.object({ fullName: v.string(), version: v.string() })),
  v.transform((source) => (source && isVersion(source.version) && isFullName(source.fullName) ? source : null)),
)
const Member = v.object({ fullName: v.string(), pinnedVersion: v.nullable(Version), note: v.string() })

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

/** What the entries of each type say, as far as a mirror takes anything from them; see `skills/skill-log.ts`. */
const schemas = {
  version: v.object({
    ...identity,
    ...settings,
    version: Version,
    publishedAt: Time,
    publisher: User,
    changelog: v.string(),
    yanked: v.boolean(),
    forkedFrom: Source,
  }),
  skill: v.object({ ...identity, ...settings }),
  yank: v.object({ ...identity, version: Version, yanked: v.boolean() }),
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
export type RemovalEntry = Parsed<'withdrawn'> | Parsed<'takedown'>

export type PackEntry = Parsed<'pack'>

/** An entry, taken at its word as far as that can be meant. */
export type ParsedEntry = VersionEntry | SkillEntry | YankEntry | RemovalEntry | PackEntry

/** What an entry says; a sentence where it makes no sense, undefined where it is of a type that is not followed. */
export function parseEntry(entry: FeedEntry): ParsedEntry | string | undefined {
  if (!isFollowed(entry.type)) return undefined
  const parsed = v.safeParse(schemas[entry.type], entry.data, firstIssueOnly)
  if (!parsed.success) {
    const path = v.getDotPath(parsed.issues[0])
    return `The entry ${entry.seq} makes no sense${path === null ? '' : ` in ${path}`}.`
  }
  const one = { type: entry.type, entry, data: parsed.output } as ParsedEntry
  return isConsistent(one) ? one : `The entry ${entry.seq} speaks of one thing and is filed under another.`
}

/** When an entry was made, in milliseconds since 1970; the present where it says nothing that is a time, or a later one. */
export function toCreatedAt({ at }: Pick<FeedEntry, 'at'>, now: number): number {
  const said = Date.parse(at)
  return Number.isFinite(said) ? Math.min(now, said) : now
}

function isFullName(text: string): boolean {
  const [owner = '', name = '', ...rest] = text.split('/')
  return rest.length === 0 && isUsername(owner) && isSkillName(name)
}

function isFollowed(type: string): type is Type {
  return Object.hasOwn(schemas, type)
}

function isConsistent({ type, entry, data }: ParsedEntry): boolean {
  if (type === 'pack') return entry.subject === data.pack.slug
  const { skill, owner } = data
  if (skill.fullName !== `${owner.username}/${skill.name}`) return false
  if (type === 'version' && entry.digest === null) return false
  const isOfVersion = type === 'version' || type === 'yank'
  return entry.subject === (isOfVersion ? `${skill.fullName}@${data.version}` : skill.fullName)
}
