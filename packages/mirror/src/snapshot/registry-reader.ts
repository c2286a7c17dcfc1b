import { limits, type SkillDetails, toFields } from '@skillstead/protocol'
import type { Refusal, Release } from '../types.ts'
import type { UpstreamFetch } from '../upstream-fetch.ts'
import { fetchAnswer, fetchJson, isAboutOne, type Failures, parseWebUrl } from './fetch-answer.ts'
import type { ListedSkill } from './registry-page.ts'

/** Access to a registry that has only the base API (docs/api.md#the-base-api). */
export interface RegistryAccess {
  /** The base URL of the API, which ends in `/api/v1`. */
  readonly base: string
  readonly http: UpstreamFetch
  /** The API key. Set only if the registry shows nothing to guests, or to read private skills. */
  readonly apiKey?: string | undefined
  /** Whether to read the private skills of the key's owner. */
  readonly isPrivate?: boolean
  /** Counts the failures of one run. If absent, each failure of the upstream is thrown. */
  readonly failures?: Failures
}

/**
 * The result of reading a skill: `moved` if a newer version was published meanwhile, `shown` if guests can read a skill
 * that was expected to be private.
 */
export type Reading = { readonly release: Release } | { readonly refused: Refusal } | 'moved' | 'shown'

const detailsBytesMax = 4 * 1024 * 1024
/** Number of requests for reading one skill. */
export const requestsASkill = 2

/** Converts the URL of a registry to the base URL of its API. Throws `invalid_request`. */
export function toApiBase(location: string): string {
  const { origin, pathname } = parseWebUrl(location)
  const trimmed = (origin + pathname).replace(/\/+$/, '')
  return trimmed.endsWith('/api/v1') ? trimmed : `${trimmed}/api/v1`
}

/**
 * Reads the newest version of a skill: first SKILL.md, then the details, whose version shows whether a newer version
 * was published in between. A path may contain a short name, so it is checked that the details are those of the listed
 * skill.
 */
export async function readListedSkill(access: RegistryAccess, listed: ListedSkill): Promise<Reading> {
  const { base, http, apiKey } = access
  const path = `${base}/skills/${encodeURIComponent(listed.ref)}`
  try {
    if (access.isPrivate && (await isShown(access, path, listed))) return 'shown'
    const question = { url: new URL(`${path}/skill.md`), accept: 'text/markdown, text/plain', apiKey }
    const skillMd = await fetchAnswer(http, { ...question, bytesMax: limits.fileBytesMax })
    const details = await fetchJson(http, { url: new URL(path), apiKey, bytesMax: detailsBytesMax })
    const said: Said = toFields(details!.value)
    if (!isListedSkill(said, listed)) {
      return refuseListed(listed, 'missing', `For '${listed.ref}' the registry returns another skill with that name.`)
    }
    if (said.latestVersion !== undefined && said.latestVersion !== listed.version) return 'moved'
    if (access.isPrivate ? said.visibility === 'public' : apiKey !== undefined && said.visibility !== 'public') {
      return refuseListed(listed, 'missing', 'The registry does not report whether guests may read this skill.')
    }
    if (isHtmlPage(skillMd!))
      return refuseListed(
        listed,
        'malformed',
        'The SKILL.md is a web page. Check whether this network requires a login.',
      )
    access.failures?.succeed()
    return { release: toListedRelease(listed, said, skillMd!.bytes, access.isPrivate ? 'private' : 'public') }
  } catch (error) {
    const failure = access.failures?.take(error) ?? (isAboutOne(error) ? error : undefined)
    if (!failure) throw error
    return refuseListed(listed, 'missing', failure.message)
  }
}

/** Whether guests can read the skill. Lists do not state visibility, so the skill is requested without a key. */
async function isShown({ http }: RegistryAccess, path: string, listed: ListedSkill): Promise<boolean> {
  try {
    const answer = await fetchJson(http, { url: new URL(path), bytesMax: detailsBytesMax })
    return isListedSkill(toFields(answer!.value), listed)
  } catch (error) {
    if (isAboutOne(error)) return false
    throw error
  }
}

/** Details of a skill that have not been validated. */
type Said = { readonly [K in keyof SkillDetails]?: unknown }

function isListedSkill({ id, fullName }: Said, listed: ListedSkill): boolean {
  return (fullName === undefined || fullName === listed.fullName) && (id === undefined || id === listed.id)
}

/** Whether a response is a web page, which proxies and hotel networks return for any request. */
function isHtmlPage({ bytes, contentType }: { bytes: Uint8Array; contentType: string }): boolean {
  const start = new TextDecoder().decode(bytes.subarray(0, 256)).trimStart().toLowerCase()
  return contentType.startsWith('text/html') || start.startsWith('<!doctype html') || start.startsWith('<html')
}

function toListedRelease(
  listed: ListedSkill,
  said: Said,
  skillMd: Uint8Array,
  visibility: 'public' | 'private',
): Release {
  const { owner, name, version, publishedAt, category, license, deprecated } = listed
  const keywords = Array.isArray(said.keywords) ? said.keywords.filter((word) => typeof word === 'string') : []
  const repository = toTextWithin(said.repository, 500)
  return {
    owner,
    name,
    version,
    publishedAt,
    deprecated,
    files: [{ path: 'SKILL.md', bytes: skillMd }],
    displayName: toTextWithin(said.displayName, limits.displayNameCharactersMax),
    description: toTextWithin(listed.description, limits.descriptionCharactersMax),
    category: toTextWithin(category, 64),
    license: toTextWithin(license, 128),
    ...(keywords.length > 0 && { keywords: keywords.slice(0, limits.keywordsMax) }),
    repository: repository && /^https?:\/\//.test(repository) ? repository : undefined,
    deprecationMessage: toTextWithin(said.deprecationMessage, 1000),
    ...(isSkillId(listed.id) && { skillId: listed.id }),
    ...(isSkillId(listed.authorId) && { publisher: { id: listed.authorId, username: owner } }),
    visibility,
  }
}

function toTextWithin(value: unknown, charactersMax: number): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, charactersMax).toWellFormed() : undefined
}

function isSkillId(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(text)
}

function refuseListed({ fullName, version }: ListedSkill, reason: string, detail: string): { refused: Refusal } {
  return { refused: { subject: `${fullName}@${version}`, reason, detail } }
}
