import {
  RegistryError,
  firstIssueOnly,
  isSkillName,
  isUsername,
  isVersion,
  limits,
  reservedOwners,
  toFields,
} from '@skillstead/protocol'
import * as v from 'valibot'
import type { Refusal } from '../types.ts'

/** A skill in a registry's list (docs/api.md#a-skill-in-a-list), with the fields that a mirror needs. */
export interface ListedSkill {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** The skill's name in a URL path: short, or full if several skills of the registry have the short name. */
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
  /** Listed items that are not valid skills, each with the reason. */
  readonly refused: readonly Refusal[]
  readonly total: number
  readonly totalPages: number
}

/** Maximum number of items on a page that a server returns, which may be more than requested. */
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

/**
 * Parses a page of `GET /skills`. Throws `upstream_failed` for any other value. Refuses single items that are invalid.
 */
export function readListPage(value: unknown, origin: string): ListPage {
  const page = v.safeParse(Page, value, firstIssueOnly)
  if (!page.success) {
    throw new RegistryError(
      'upstream_failed',
      `${origin} responded to GET /skills with something other than a list of skills.`,
    )
  }
  const skills: ListedSkill[] = []
  const refused: Refusal[] = []
  for (const raw of page.output.skills) {
    const skill = readListedItem(raw)
    if (typeof skill === 'string') refused.push({ subject: toListedSubject(raw), reason: 'malformed', detail: skill })
    else skills.push(skill)
  }
  const { total, totalPages } = page.output
  return { skills, refused, total, totalPages }
}

/** Parses an item of a list. Returns a sentence that explains why if the item is invalid. */
function readListedItem(raw: unknown): ListedSkill | string {
  const parsed = v.safeParse(Item, raw, firstIssueOnly)
  if (!parsed.success)
    return `The item is invalid: ${v.getDotPath(parsed.issues[0]) ?? 'an object'} is wrong or missing.`
  const item = parsed.output
  const [owner = '', name = '', ...rest] = item.fullName.split('/')
  const publishedAt = Date.parse(item.publishedAt)
  if (rest.length > 0 || ![name, item.fullName].includes(item.name) || !isSkillName(name))
    return 'The name is not a valid skill name.'
  if (!isUsername(owner) || reservedOwners.has(owner)) return 'The name of the owner is invalid or reserved.'
  if (!isVersion(item.latestVersion)) return 'The version does not consist of three numbers.'
  if (!(publishedAt >= 0)) return 'The publication time is invalid.'
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

function toListedSubject(raw: unknown): string {
  const { fullName, name } = toFields(raw)
  const said = typeof fullName === 'string' ? fullName : name
  return typeof said === 'string'
    ? said.slice(0, shownCharactersMax).replaceAll('\0', '').toWellFormed()
    : 'a skill without a name'
}
