import { createHash } from 'node:crypto'
import type { GatewayName } from '@skillstead/gateways'
import { readPackets, toPackets } from './git-client.ts'

/** A skill that all gateways are asked for. */
export interface VisitedSkill {
  readonly owner: string
  readonly name: string
  readonly version: string
  /** The slug of a pack with the skill, which is also that of the root. */
  readonly pack: string
  /** The token of a share link. */
  readonly share: string
}

/** What an address is for: bulk installs, search, a named skill, or a named version, which may be yanked. */
type Group = 'bulk' | 'search' | 'skill' | 'version'

/** The text of a skill that an answer must contain, if the caller may read the skill. */
export type Shown = 'name' | 'description' | 'body' | 'file'

/** A request to a gateway. */
export interface Visit {
  readonly group: Group
  readonly path: string
  /** Sent with POST. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly shows: readonly Shown[]
  /** The requests that a client sends because of the answer. */
  follow?(bytes: Buffer): Visit[]
}

interface Visited {
  readonly name: GatewayName
  paths(skill: VisitedSkill): readonly Visit[]
}

/** A word in the description of every skill, by which searches find all of them. */
export const searchWord = 'quokkawalk'

/** What clients request from each gateway. A gateway without an entry fails the test. */
export const visited: readonly Visited[] = [
  { name: 'apm', paths: visitApm },
  { name: 'clawhub', paths: visitClawhub },
  { name: 'discovery', paths: visitDiscovery },
  { name: 'git', paths: visitGit },
  { name: 'marketplaces', paths: visitMarketplaces },
  { name: 'mcp', paths: visitMcp },
  { name: 'npm', paths: visitNpm },
  { name: 'oci', paths: visitOci },
]

const search = (path: string, ...shows: Shown[]): Visit => ({ group: 'search', path, shows })
const skill = (path: string, ...shows: Shown[]): Visit => ({ group: 'skill', path, shows })
const version = (path: string, ...shows: Shown[]): Visit => ({ group: 'version', path, shows })

function visitApm({ owner, name, version: number }: VisitedSkill): Visit[] {
  const base = `/apm/v1/packages/${owner}/${name}/versions`
  return [skill(base), version(`${base}/${number}/download`, 'description', 'body', 'file')]
}

function visitClawhub({ owner, name, version: number }: VisitedSkill): Visit[] {
  const base = '/clawhub/api/v1'
  const [one, query] = [`${base}/skills/${name}`, `ownerHandle=${owner}`]
  return [
    search(`${base}/search?q=${searchWord}&limit=100`, 'name', 'description'),
    search(`${base}/search?q=${name}&mode=exact`, 'description'),
    search(`${base}/skills?sort=createdAt&limit=100`, 'name', 'description'),
    search(`${base}/skills?sort=downloads&limit=100`, 'name', 'description'),
    search(`${base}/skills?sort=trending&limit=100`),
    search(`${base}/skills?prefix=${name}&limit=100`, 'description'),
    skill(`${one}?${query}`, 'description'),
    skill(`${one}/moderation?${query}`),
    skill(`${one}/versions?${query}`),
    skill(`${one}/verify?${query}`),
    skill(`${one}/install?${query}`),
    skill(`${one}/file?path=SKILL.md&${query}`, 'description', 'body'),
    skill(`${base}/download?slug=${name}&${query}`, 'description', 'body', 'file'),
    skill(`${base}/resolve?slug=${name}&${query}`),
    version(`${one}/versions/${number}?${query}`),
    version(`${one}/verify?version=${number}&${query}`),
    version(`${one}/file?path=notes/more.txt&version=${number}&${query}`, 'file'),
    version(`${base}/download?slug=${name}&version=${number}&${query}`, 'description', 'body', 'file'),
  ]
}

/** The scopes of skill indexes: their base, the folder of a file in them, and what they are for. */
function listScopes({ owner, name, version: number, pack, share }: VisitedSkill) {
  return [
    { base: '', holder: `/${owner}`, group: 'bulk' },
    { base: `/packs/${pack}`, holder: `/${owner}`, group: 'bulk' },
    { base: `/${owner}`, holder: '', group: 'bulk' },
    { base: `/${owner}/${name}`, holder: '', group: 'skill' },
    { base: `/${owner}/${name}@${number}`, holder: '', group: 'version' },
    { base: `/t/${share}`, holder: '', group: 'skill' },
  ] as const
}

function visitDiscovery(of: VisitedSkill): Visit[] {
  const { name, version: number } = of
  const indexes = listScopes(of).flatMap(({ base, holder, group }): Visit[] => {
    const own: readonly Shown[] = group === 'bulk' ? ['name', 'description'] : ['description']
    // An owner's skills can be read by name, whether the index lists them or not.
    const named = base === `/${of.owner}` ? 'skill' : group
    return [
      { group, path: `${base}/.well-known/agent-skills/index.json`, shows: own },
      version(`${base}/.well-known/agent-skills${holder}/${name}-${number}.zip`, 'description', 'body', 'file'),
      { group, path: `${base}/.well-known/skills/index.json`, shows: own },
      { group: named, path: `${base}/.well-known/skills/${name}/SKILL.md`, shows: ['description', 'body'] },
      { group: named, path: `${base}/.well-known/skills/${name}/notes/more.txt`, shows: ['file'] },
    ]
  })
  return [
    ...indexes,
    search(`/api/search?q=${searchWord}&limit=100`, 'name'),
    search(`/api/search?q=${name}&owner=${of.owner}`),
  ]
}

function visitMarketplaces(of: VisitedSkill): Visit[] {
  const { name, version: number } = of
  return listScopes(of).flatMap(({ base, holder, group }): Visit[] => [
    { group, path: `${base}/.claude-plugin/marketplace.json`, shows: ['description'] },
    version(`${base}/.claude-plugin${holder}/${name}-${number}.zip`, 'description', 'body', 'file'),
  ])
}

/** A clone of the repository of the skill, of its owner, and of a pack. */
function visitGit({ owner, name, pack }: VisitedSkill): Visit[] {
  return [
    visitRepository('skill', `/git/${owner}/${name}.git`),
    visitRepository('bulk', `/git/${owner}.git`),
    visitRepository('bulk', `/git/packs/${pack}.git`),
  ]
}

function visitRepository(group: 'skill' | 'bulk', path: string): Visit {
  const follow = (bytes: Buffer): Visit[] => {
    const ids = new Set(
      readPackets(bytes).flatMap((packet) => /^([0-9a-f]{40}) (?:HEAD|refs\/)/.exec(packet)?.[1] ?? []),
    )
    const lines = ['command=fetch', '0001', ...[...ids].map((id) => `want ${id}`), 'done', '0000']
    return [
      {
        // The history of a skill contains yanked versions, which can be fetched by their ids.
        group: group === 'skill' ? 'version' : 'bulk',
        path: `${path}/git-upload-pack`,
        body: toPackets(...lines).toString(),
        headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
        shows: group === 'skill' ? ['description', 'body', 'file'] : ['name', 'description', 'body', 'file'],
      },
    ]
  }
  return { group, path: `${path}/info/refs?service=git-upload-pack`, shows: [], follow }
}

function visitMcp({ owner, name }: VisitedSkill): Visit[] {
  const uri = `skill://${owner}/${name}/SKILL.md`
  const load = (level: string) => callTool({ name: 'load_skill', arguments: { name: `${owner}/${name}`, level } })
  return [
    message('search', callTool({ name: 'search_skills', arguments: { query: searchWord, limit: 50 } }), 'name'),
    message('search', callTool({ name: 'search_skills', arguments: { query: name } }), 'description'),
    message('search', callTool({ name: 'list_packs', arguments: {} }), 'name'),
    message('bulk', { method: 'resources/list', params: {} }, 'name', 'description'),
    message('bulk', { method: 'skills/list', params: {} }, 'name', 'description'),
    message('skill', { method: 'skills/get', params: { uri } }, 'description'),
    message('skill', { method: 'resources/read', params: { uri } }, 'description', 'body'),
    message('skill', { method: 'resources/read', params: { uri: uri.replace('SKILL.md', 'notes/more.txt') } }, 'file'),
    ...['metadata', 'contract', 'summary'].map((level) => message('skill', load(level))),
    message('skill', load('full'), 'body'),
  ]
}

function callTool(params: object) {
  return { method: 'tools/call', params }
}

function message(group: Group, call: object, ...shows: Shown[]): Visit {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return { group, path: '/mcp', body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call }), headers, shows }
}

function visitNpm({ owner, name, version: number }: VisitedSkill): Visit[] {
  return [
    search(`/npm/-/v1/search?text=${searchWord}&size=100`, 'name', 'description'),
    search(`/npm/-/v1/search?text=${name}`, 'description'),
    skill(`/npm/@${owner}%2f${name}`, 'description'),
    skill(`/npm/@${owner}/${name}/latest`, 'description'),
    skill(`/npm/-/package/@${owner}%2f${name}/dist-tags`),
    skill(`/npm/@${owner}/${name}/${number}`, 'description'),
    version(`/npm/@${owner}/${name}/-/${name}-${number}.tgz`, 'description', 'body', 'file'),
  ]
}

/** Clients read a manifest, and then its blobs by their digests. */
function visitOci({ owner, name, version: number }: VisitedSkill): Visit[] {
  const base = `/v2/${owner}/${name}`
  const follow = (bytes: Buffer): Visit[] => {
    const { config, layers } = JSON.parse(bytes.toString()) as Manifest
    return [
      version(`${base}/manifests/sha256:${createHash('sha256').update(bytes).digest('hex')}`),
      version(`${base}/blobs/${config.digest}`, 'description'),
      ...layers.map(({ digest }) => version(`${base}/blobs/${digest}`, 'description', 'body', 'file')),
    ]
  }
  return [
    skill(`${base}/tags/list`),
    { ...skill(`${base}/manifests/latest`), follow },
    { ...version(`${base}/manifests/${number}`), follow },
  ]
}

interface Manifest {
  readonly config: { readonly digest: string }
  readonly layers: readonly { readonly digest: string }[]
}
