import {
  RegistryError,
  firstIssueOnly,
  isSkillName,
  isUsername,
  isVersion,
  limits,
  reservedOwners,
} from '@skillstead/protocol'
import * as v from 'valibot'
import type { Refusal } from '../types.ts'

/** A skill as a list of the specification tells it (section 2.1), as far as a mirror needs it. */
export interface ListedSkill {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** What leads to it in a path there: of a node that has several of its short name, the full name. */
  readonly ref: string
  readonly fullName: string
  readonly version: string
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  readonly description: string
  readonly category: string
  readonly license: string
  readonly deprecated: boolean
  readonly verified: boolean
  readonly securityScore: number | null
  readonly authorId: string
}

export interface ListPage {
  readonly skills: readonly ListedSkill[]
  /** What is listed and is no skill that could come in. */
  readonly refused: readonly Refusal[]
  readonly total: number
  readonly totalPages: number
}

/** Servers may give more than they were asked for; this many are looked at. */
const pageSkillsMax = 1000
const shownCharactersMax = 200

const Count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER))
const Page = v.object({
  skills: v.pipe(v.array(v.unknown()), v.maxLength(pageSkillsMax)),
  total: Count,
  totalPages: Count,
})
const Item = v.object({
  id: v.string(),
  name: v.string(),
  fullName: v.string(),
  description: v.optional(v.string(), ''),
  latestVersion: v.string(),
  securityScore: v.nullish(v.number(), null),
  verified: v.optional(v.boolean(), false),
  deprecated: v.optional(v.boolean(), false),
  category: v.nullish(v.string()),
  license: v.nullish(v.string()),
  author: v.optional(v.object({ id: v.optional(v.string(), '') })),
  publishedAt: v.string(),
})

/** Reads a page of `GET /skills`. Throws `upstream_failed` for what is none; single items that are wrong are refused. */
export function readListPage(value: unknown, origin: string): ListPage {
  const page = v.safeParse(Page, value, firstIssueOnly)
  if (!page.success) {
    throw new RegistryError(
      'upstream_failed',
      `${origin} answers GET /skills with something that is no list of skills.`,
    )
  }
  const skills: ListedSkill[] = []
  const refused: Refusal[] = []
  for (const raw of page.output.skills) {
    const skill = readItem(raw)
    if (typeof skill === 'string') refused.push({ subject: toSubject(raw), reason: 'malformed', detail: skill })
    else skills.push(skill)
  }
  const { total, totalPages } = page.output
  return { skills, refused, total, totalPages }
}

/** A skill, or what is wrong with it. */
function readItem(raw: unknown): ListedSkill | string {
  const parsed = v.safeParse(Item, raw, firstIssueOnly)
  if (!parsed.success)
    return `It lacks what a skill of a list has: ${v.getDotPath(parsed.issues[0]) ?? 'it is no object'}.`
  const item = parsed.output
  const [owner = '', name = '', ...rest] = item.fullName.split('/')
  const publishedAt = Date.parse(item.publishedAt)
  if (rest.length > 0 || ![name, item.fullName].includes(item.name) || !isSkillName(name))
    return 'Its name is none that a skill can have here.'
  if (!isUsername(owner) || reservedOwners.has(owner)) return 'Its owner has a name that nobody can have here.'
  if (!isVersion(item.latestVersion)) return 'Its version is not of three numbers.'
  if (!(publishedAt >= 0)) return 'It was published at no time that can be read.'
  const { id, fullName, verified, deprecated, securityScore } = item
  return {
    id,
    owner,
    name,
    ref: item.name,
    fullName,
    publishedAt,
    verified,
    deprecated,
    securityScore,
    version: item.latestVersion,
    description: item.description.slice(0, limits.descriptionCharactersMax).toWellFormed(),
    category: item.category ?? '',
    license: item.license ?? '',
    authorId: item.author?.id ?? '',
  }
}

function toSubject(raw: unknown): string {
  const { fullName, name } = (typeof raw === 'object' && raw !== null ? raw : {}) as Record<string, unknown>
  const said = typeof fullName === 'string' ? fullName : name
  return typeof said === 'string'
    ? said.slice(0, shownCharactersMax).replaceAll('\0', '').toWellFormed()
    : 'a skill without a name'
}
