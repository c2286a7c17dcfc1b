import { isOfferedVersion, RegistryError, limits, type Skill } from '@skillstead/protocol'
import { requireClientAddress } from '../gateway.ts'
import { type Asked, nameIn, type RouteTable, toClawhubAnswer } from './route-table.ts'
import {
  toEvidence,
  toHit,
  toLatest,
  toListedSkill,
  toModeration,
  toMs,
  toClawhubOwner,
  toReasons,
  toClawhubSkill,
  toClawhubVersion,
  toClawhubVersionSummary,
} from './shapes.ts'

/** Routes for the search, lists of skills, and details of a skill. */
export const findRoutes: RouteTable = {
  '/api/v1/search': { GET: searchForClient },
  '/api/v1/skills/:slug/moderation': { GET: showSkillModeration },
  '/api/v1/skills/:slug/versions': { GET: listSkillVersions },
  '/api/v1/skills/:slug/verify': { GET: verifySkill },
}

async function searchForClient({ api, query }: Asked) {
  const q = query.get('q') ?? ''
  const isExact = query.get('mode') === 'exact'
  const { skills } = await api.searchSkills({ q, limit: isExact ? limits.pageSizeMax : readPageLimit(query) })
  const hits = isExact ? skills.filter(({ name, fullName }) => q === name || q === fullName) : skills
  return toClawhubAnswer({ results: hits.map(toHit) })
}

/** The sort orders of the API by those of `clawhub explore`. This registry has one count for downloads and installs. */
const sorts: ReadonlyMap<string | null, 'downloads' | 'stars' | 'recent'> = new Map([
  ['createdAt', 'recent'],
  ['downloads', 'downloads'],
  ['installs', 'downloads'],
  ['rating', 'stars'],
  ['stars', 'stars'],
])
/** Maximum number of catalogue pages that are read for one page of skills whose names have a prefix. */
const prefixPagesMax = 5

/** Answers `GET /skills`. A cursor is the number of the next page. */
export async function listSkills({ api, query }: Asked) {
  const limit = readPageLimit(query)
  if (query.get('sort') === 'trending') {
    const { entries } = await api.getTrending({ limit })
    return toClawhubAnswer({ items: entries.map(({ skill }) => toListedSkill(skill)), nextCursor: null })
  }
  const prefix = query.get('prefix') ?? ''
  const sort = sorts.get(query.get('sort') ?? 'createdAt')
  const order = prefix === '' ? { sort } : { q: prefix }
  const items: Skill[] = []
  let page = readPageCursor(query)
  for (let read = 0; read < prefixPagesMax; read++) {
    const { skills, totalPages } = await api.searchSkills({ ...order, limit, page })
    items.push(...skills.filter(({ name }) => name.startsWith(prefix)))
    page = page < totalPages ? page + 1 : 0
    if (page === 0 || items.length > 0) break
  }
  return toClawhubAnswer({ items: items.map(toListedSkill), nextCursor: page === 0 ? null : `${page}` })
}

/** Answers `GET /skills/:slug`. */
export async function inspectSkill(asked: Asked) {
  const skill = await asked.api.getSkill({ name: nameIn(asked) })
  return toClawhubAnswer({
    skill: toClawhubSkill(skill),
    latestVersion: toLatest(skill),
    owner: toClawhubOwner(skill),
    metadata: null,
    moderation: toModeration(skill.security),
  })
}

async function showSkillModeration(asked: Asked) {
  const { security } = await asked.api.getSkill({ name: nameIn(asked) })
  return toClawhubAnswer({ moderation: security && { ...toModeration(security), evidence: toEvidence(security) } })
}

async function listSkillVersions(asked: Asked) {
  const { query } = asked
  const page = readPageCursor(query)
  const read = await asked.api.listVersions({ name: nameIn(asked), page, limit: readPageLimit(query) })
  return toClawhubAnswer({
    items: read.versions.filter(isOfferedVersion).map(toClawhubVersionSummary),
    nextCursor: page < read.totalPages ? `${page + 1}` : null,
  })
}

/** Answers `GET /skills/:slug/versions/:version`. */
export async function showSkillVersion(asked: Asked) {
  const name = nameIn(asked)
  const version = await asked.api.getVersion({ name, version: asked.params.version ?? '' })
  const { displayName, name: slug } = await asked.api.getSkill({ name })
  return toClawhubAnswer({ version: toClawhubVersion(version), skill: { slug, displayName } })
}

/** Answers `clawhub skill verify`: the result of the scan, and the record of the publication with its proof. */
async function verifySkill(asked: Asked) {
  const { api, query, host, call } = asked
  const name = nameIn(asked)
  const version = readVersionQuery(query)
  const skill = await api.getSkill({ name, version })
  const provenance = await api.getProvenance({ name, version })
  const { security, fullName, recalled } = skill
  const [address, { username }] = [requireClientAddress(host, call), skill.author]
  const isGood = security !== null && security.verdict !== 'dangerous' && !recalled
  return toClawhubAnswer({
    schema: 'clawhub.skill.verify.v1',
    ok: isGood,
    decision: isGood ? 'pass' : 'fail',
    reasons: [...(recalled ? ['recalled'] : []), ...(security ? toReasons(security) : ['not_scanned'])],
    slug: skill.name,
    displayName: skill.displayName,
    pageUrl: `${address}/skills/${fullName}`,
    publisherHandle: username,
    publisherDisplayName: null,
    publisherProfileUrl: `${address}/users/${username}`,
    version: provenance.version,
    resolvedFrom: query.has('version') ? 'version' : query.has('tag') ? 'tag' : 'latest',
    tag: query.get('tag'),
    createdAt: toMs(provenance.publishedAt),
    card: { available: false },
    artifact: { digest: provenance.digest, size: skill.size, files: skill.files },
    provenance,
    security,
    signature: provenance.signature,
  })
}

/** The version that a query names; undefined for the latest. Throws `not_found` for a tag other than `latest`. */
export function readVersionQuery(query: URLSearchParams): string | undefined {
  const [version, tag] = [query.get('version'), query.get('tag')]
  if (version !== null || tag === null || tag === 'latest') return version ?? undefined
  throw new RegistryError('not_found', `There is no tag '${tag}': this registry has no tags but latest.`)
}

/** The number of items per page. Programs ask for up to 200, and get at most `limits.pageSizeMax`. */
function readPageLimit(query: URLSearchParams): number {
  const asked = Number(query.get('limit') ?? '')
  return Number.isInteger(asked) && asked > 0 ? Math.min(asked, limits.pageSizeMax) : 25
}

/** Reads the page number from the cursor. Throws `invalid_request` for a malformed cursor. */
function readPageCursor(query: URLSearchParams): number {
  const cursor = query.get('cursor')
  if (cursor === null) return 1
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw new RegistryError('invalid_request', 'The cursor is not valid. Start again without it.')
}
