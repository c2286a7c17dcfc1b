import { toRecalledError } from '@skillstead/core/internal'
import { RegistryError, type SearchResult } from '@skillstead/protocol'
import {
  requireClientAddress,
  toCacheControl,
  toJsonAnswer,
  readSkillList,
  toListAnswer,
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  type Params,
} from '../gateway.ts'
import { apiOf, createSkillArchives, type SkillArchives } from '../scopes/skill-archives.ts'
import { toNpmManifest, toPackument, toPackageName } from './packument.ts'
import { parsePackagePath, type PackagePath } from './package-path.ts'
import { writeTarball } from './write-tarball.ts'

const base = '/npm'

/** A read-only registry in npm's protocol: each skill is the package `@OWNER/SKILL`, for npm, pnpm and skillpm. */
export function npm(host: GatewayHost): GatewayRoute[] {
  const archives = createSkillArchives(host, {
    contentType: 'application/gzip',
    extension: 'tgz',
    hashes: ['SHA-512', 'SHA-1'],
    write: writeTarball,
  })
  return [
    toNpmRoute('/-/ping', 'npmPing', (call) => toJsonAnswer(call, {})),
    ...auditPaths.map((path) => toAuditRoute(path)),
    toNpmRoute('/-/whoami', 'npmWhoami', answerWhoami),
    { ...toNpmRoute('/-/v1/search', 'npmSearch', (call) => answerSearch(host, call)), admission: 'keyed' },
    toNpmRoute('/**:path', 'npmPackage', (call, { path = '' }) => answerPath(host, archives, call, path)),
  ]
}

function toNpmRoute(path: string, endpoint: string, answer: GatewayRoute['answer']): GatewayRoute {
  return {
    pattern: `${base}${path}`,
    endpoint,
    // Requests that write get an error that names the alternative.
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    admission: 'keyed-files',
    scheme: 'basic',
    reads: toNpmEndpoint,
    answer: (call, params) =>
      call.method === 'GET' || call.method === 'HEAD' ? answer(call, params) : refuseWrite(params),
    toFailure: toNpmFailure,
  }
}

/** The paths that `npm audit` and `yarn audit` request, in current and old versions. */
const auditPaths = [
  '/-/npm/v1/security/advisories/bulk',
  '/-/npm/v1/security/audits',
  '/-/npm/v1/security/audits/quick',
]
const severities = { info: 0, low: 0, moderate: 0, high: 0, critical: 0 }
const auditReport = { actions: [], advisories: {}, muted: [], metadata: { vulnerabilities: severities } }

/** Answers an audit with an empty report, because skills have no dependencies and no advisories in npm's database. */
function toAuditRoute(path: string): GatewayRoute {
  const report = path.endsWith('bulk') ? {} : auditReport
  return {
    pattern: `${base}${path}`,
    endpoint: 'npmAudit',
    admission: 'keyed-files',
    scheme: 'basic',
    methods: ['POST'],
    readMethods: ['POST'],
    reads: () => 'nothing',
    answer: (call) => toJsonAnswer(call, report),
  }
}

function toNpmEndpoint({ path = '' }: Params) {
  const wanted = parsePackagePath(path)
  return wanted && { skill: wanted.fullName }
}

function refuseWrite({ path = '' }: Params): never {
  if (path.startsWith('-/v1/login') || path.startsWith('-/user/')) {
    // Status 501, because npm asks for a password after any other status.
    throw new RegistryError('not_implemented', 'Create an API key, and set it as `_authToken` in .npmrc.')
  }
  throw new RegistryError('method_not_allowed', 'Packages here are read-only. Publish with `skillstead publish`.')
}

function answerWhoami(call: GatewayCall): Answer {
  if (call.caller.kind !== 'user') throw new RegistryError('unauthorized', 'Set an API key as `_authToken` in .npmrc.')
  return toJsonAnswer(call, { username: call.caller.username })
}

async function answerPath(
  host: GatewayHost,
  archives: SkillArchives,
  call: GatewayCall,
  path: string,
): Promise<Answer> {
  const wanted = parsePackagePath(path)
  if (!wanted) throw new RegistryError('not_found', 'Skills are packages with the name `@OWNER/SKILL`.')
  if (wanted.of === 'tarball') return archives.answer(call, wanted.fullName, wanted.version)
  const key = ['npm', requireClientAddress(host, call), JSON.stringify(wanted)] as const
  const list = await readSkillList(host, call, key, async () => {
    return { value: await describe(host, archives, call, wanted) }
  })
  return toListAnswer(host, call, list, await host.freshness({ name: wanted.fullName }))
}

async function describe(
  host: GatewayHost,
  archives: SkillArchives,
  call: GatewayCall,
  wanted: Exclude<PackagePath, { of: 'tarball' }>,
): Promise<unknown> {
  const { fullName } = wanted
  const registry = `${requireClientAddress(host, call)}${base}`
  const skill = await apiOf(host, call, { counts: false }).getSkill({ name: fullName })
  if (wanted.of === 'manifest' && wanted.version !== 'latest') {
    const listed = skill.versions.find(({ version }) => version === wanted.version)
    if (listed?.recalled) throw toRecalledError(`${fullName}@${wanted.version}`, listed.recalled)
    const facts = listed && (await archives.measure(call, { fullName, ...listed }))
    if (!facts) throw new RegistryError('not_found', `version not found: ${wanted.version}`)
    return toNpmManifest(fullName, skill, { ...listed, facts }, registry)
  }
  const versions = await archives.describe(call, fullName, skill)
  if (versions.length === 0) throw new RegistryError('not_found', `${toPackageName(fullName)} has no versions.`)
  const packument = toPackument(fullName, skill, versions, registry)
  if (wanted.of === 'package') return packument
  const tags = packument['dist-tags']
  return wanted.of === 'tags' ? tags : packument.versions[tags.latest]
}

/** Answers `GET /-/v1/search` with `text`, `size` and `from`: the catalogue's search. */
async function answerSearch(host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const query = call.url!.searchParams
  const size = readSearchNumber(query.get('size'), 20, 1, 100)
  const page = Math.floor(readSearchNumber(query.get('from'), 0, 0, 100_000) / size) + 1
  const found = await apiOf(host, call, { counts: false }).searchSkills({
    q: query.get('text') ?? '',
    limit: size,
    page,
  })
  const address = requireClientAddress(host, call)
  const objects = found.skills.map((skill) => toFound(skill, address))
  return {
    ...toJsonAnswer(call, { objects, total: found.total, time: new Date().toUTCString() }),
    cacheControl: toCacheControl(call),
  }
}

function toFound(skill: SearchResult['skills'][number], address: string) {
  const { fullName, latestVersion, description, license, publishedAt, author } = skill
  const maintainer = { username: author.username, email: '' }
  const score = skill.securityScore === null ? 0 : skill.securityScore / 100
  return {
    package: {
      name: toPackageName(fullName),
      scope: author.username,
      version: latestVersion,
      description,
      license,
      keywords: [],
      date: publishedAt,
      links: { homepage: `${address}/${fullName}` },
      publisher: maintainer,
      maintainers: [maintainer],
    },
    score: { final: score, detail: { quality: score, popularity: score, maintenance: score } },
    searchScore: score,
  }
}

function readSearchNumber(text: string | null, fallback: number, min: number, max: number): number {
  const number = Number(text ?? fallback)
  return Number.isSafeInteger(number) ? Math.min(Math.max(number, min), max) : fallback
}

/** Converts an error to the form that npm prints. */
function toNpmFailure(error: RegistryError): ReturnType<NonNullable<GatewayRoute['toFailure']>> {
  return {
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify({ error: error.message })),
    headers: error.status === 405 ? [['allow', 'GET, HEAD, OPTIONS']] : [],
  }
}
