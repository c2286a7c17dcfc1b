import { localApi, systemCaller, type Registry } from '@skillstead/core'
import { importVersions, type ImportedVersion, partsOf } from '@skillstead/core/internal'
import { toPackets } from './git-client.ts'
import { readCommits, toWorstGitRequests } from './worst-git-requests.ts'

/** A valid request that makes a node work as much as any request of its kind may. */
export interface WorstRequest {
  readonly title: string
  readonly path: string
  /** Default: 200. */
  readonly status?: number
  request(baseUrl: string): Promise<Response>
}

/** How much the catalogue has that the requests are about. */
export interface WorstSizes {
  /** Skills of one owner, and the files of each. */
  readonly skills: number
  readonly files: number
  /** How many of these skills, the first, have `wideFiles` files instead. */
  readonly wideSkills: number
  readonly packs: number
  readonly packSkills: number
  /** Versions of one skill, and the versions and files of another. */
  readonly versions: number
  readonly wideVersions: number
  readonly wideFiles: number
  /** The size of the SKILL.md of a third, and of a picture in it. */
  readonly documentBytes: number
  readonly pictureBytes: number
  /** The items of a body. */
  readonly items: number
  /** The values of a body of JSON. */
  readonly values: number
}

const owner = 'worst'
const nameOf = (i: number) => `skill-${String(i).padStart(4, '0')}`
const toSkillMd = (name: string, body: string, lines = '') =>
  `---\nname: ${name}\ndescription: ${`What ${name} does with a table, told at some length. `.repeat(20)}\n${lines}---\n# ${name}\n\n${body}\n`
const paragraph = (i: number) =>
  `Step ${i}: read table ${(i * 7919) % 10_007}, then compare column ${i % 13} with it.\n\n`
const toText = (bytes: number) => {
  const lines: string[] = []
  for (let [i, left] = [0, bytes]; left > 0; i++) {
    lines.push(paragraph(i))
    left -= lines[i]!.length
  }
  return lines.join('')
}

/** Fills a registry for {@link listWorstRequests}; returns an API key of the owner. */
export async function fillWorst(registry: Registry, sizes: WorstSizes): Promise<string> {
  const { key } = await localApi(registry, systemCaller).createUser({ username: owner, plan: 'enterprise' })
  for (const item of listVersions(sizes)) await store(registry, [item])
  for (let at = 0; at < sizes.skills; at += 50) {
    const count = Math.min(50, sizes.skills - at)
    await store(
      registry,
      Array.from({ length: count }, (_, i) =>
        toSkill(at + i, at + i < sizes.wideSkills ? sizes.wideFiles : sizes.files),
      ),
    )
  }
  const api = localApi(registry, await registry.getCaller(owner))
  const skills = Array.from({ length: sizes.packSkills }, (_, i) => `${owner}/${nameOf(i)}`)
  for (let i = 0; i < sizes.packs; i++) {
    await api.createPack({ name: `Pack ${i}`, slug: `pack-${i}`, description: 'Tables.', skills })
  }
  const range = Array.from({ length: 28 }, (_, i) => `${i + 2}.x`)
    .join(' || ')
    .slice(0, 195)
  for (let i = 0; i < 20; i++) {
    await api.recallSkill({
      name: `${owner}/history`,
      range: range.replace(/ \|\|[^|]*$/, ''),
      reason: 'x'.repeat(500),
    })
  }
  return key
}

async function store(registry: Registry, items: readonly ImportedVersion[]): Promise<void> {
  for (const { error } of await importVersions(partsOf(registry), items, systemCaller)) if (error) throw error
}

function toSkill(index: number, files: number): ImportedVersion {
  const name = nameOf(index)
  const others = Array.from({ length: files - 1 }, (_, i) => {
    return { path: `references/part-${i}.md`, bytes: Buffer.from(`Part ${i} of ${name}.\n`) }
  })
  // Each requires the one before: a chain as long as there are skills.
  const before = index > 0 ? `, ${owner}/${nameOf(index - 1)}@^1.0.0` : ''
  const requires = `metadata:\n  requires: [${owner}/required@^1.0.0${before}]\n`
  return { owner, name, skillMd: toSkillMd(name, paragraph(index), requires), files: others }
}

function* listVersions(sizes: WorstSizes): Generator<ImportedVersion> {
  for (let i = 0; i < sizes.versions; i++) {
    const skillMd = toSkillMd('history', `Version ${i}.`)
    yield { owner, name: 'history', skillMd, version: `1.0.${i}`, changelog: 'Tables. '.repeat(50) }
  }
  for (let i = 0; i < sizes.wideVersions; i++) {
    const skillMd = toSkillMd('wide', `Many files, version ${i}.`)
    yield { ...toSkill(0, sizes.wideFiles), name: 'wide', skillMd, version: `1.0.${i}` }
  }
  const toml = Buffer.from(`a${'.a'.repeat(32_000)} = 1\n`)
  const manifests = Array.from({ length: 8 }, (_, i) => ({ path: `${i}/pyproject.toml`, bytes: toml }))
  yield { owner, name: 'packages', skillMd: toSkillMd('packages', 'Packages.'), files: manifests }
  yield { owner, name: 'required', skillMd: toSkillMd('required', 'Required by all.') }
  const picture = Buffer.alloc(sizes.pictureBytes, 7)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(picture)
  for (const version of ['1.0.0', '1.0.1']) {
    const skillMd = toSkillMd('large', `${version}\n\n${toText(sizes.documentBytes)}`)
    yield { owner, name: 'large', skillMd, version, files: [{ path: 'large.png', bytes: picture }] }
  }
}

/** The requests to a node with {@link fillWorst}, as the owner of the skills where a key is needed. */
export async function listWorstRequests(url: string, sizes: WorstSizes, key: string): Promise<readonly WorstRequest[]> {
  return [
    ...listIndexes(),
    ...listGateways(),
    ...listMessages(sizes),
    ...listReads(sizes),
    ...listBodies(sizes, key),
    ...(await listFetches(url)),
  ]
}

/** A repository of an owner, and that of a skill, are made in different ways. */
async function listFetches(nodeUrl: string): Promise<WorstRequest[]> {
  return [
    ...(await listFetchesOf(nodeUrl, `/git/${owner}.git`)),
    ...(await listFetchesOf(nodeUrl, `/git/${owner}/history.git`)),
  ]
}

async function listFetchesOf(nodeUrl: string, path: string): Promise<WorstRequest[]> {
  const commits = await readCommits(nodeUrl + path)
  const refs = {
    title: 'all references',
    version: 2,
    body: toPackets('command=ls-refs', '0001', 'peel', 'symrefs', '0000'),
  }
  const fetches = [refs, ...toWorstGitRequests(commits)].map(({ title, version, body }) => {
    const headers = {
      'content-type': 'application/x-git-upload-pack-request',
      ...(version === 2 && { 'git-protocol': 'version=2' }),
    }
    const request = (url: string) =>
      fetch(`${url}${path}/git-upload-pack`, { method: 'POST', headers, body: new Uint8Array(body) })
    return { title: `git: ${title} of ${path}`, path: `${path}/git-upload-pack`, request }
  })
  return [get(`${path}/info/refs?service=git-upload-pack`), ...fetches]
}

function get(path: string, headers: Record<string, string> = {}, status = 200): WorstRequest {
  return {
    title: `GET ${path.slice(0, 70)}`,
    path,
    status,
    request: (url) => fetch(url + path, { headers, redirect: 'manual' }),
  }
}

function send(title: string, path: string, body: unknown, more: Sent = {}): WorstRequest {
  const { method = 'POST', key, status = 200, headers } = more
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    title: `${title} (${Math.ceil(content.length / 1024)} KiB)`,
    path,
    status,
    request: (url) =>
      fetch(url + path, {
        method,
        headers: {
          'content-type': 'application/json',
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: content,
      }),
  }
}

interface Sent {
  readonly method?: string
  readonly key?: string
  readonly status?: number
  readonly headers?: Record<string, string>
}

function listIndexes(): WorstRequest[] {
  const folders = [
    '.well-known/agent-skills/index.json',
    '.well-known/skills/index.json',
    '.claude-plugin/marketplace.json',
  ]
  return [`/${owner}`, '/packs/pack-0', `/${owner}/wide`].flatMap((scope) =>
    folders.map((folder) => get(`${scope}/${folder}`)),
  )
}

const digest = `sha256:${'0'.repeat(64)}`

function listGateways(): WorstRequest[] {
  const clawhub = '/clawhub/api/v1'
  return [
    get(`/apm/v1/packages/${owner}/history/versions`),
    get(`/apm/v1/packages/${owner}/large/versions`),
    get(`/apm/v1/packages/${owner}/large/versions/1.0.0/download`),
    get(`/apm/v1/packages/${owner}/wide/versions/1.0.0/download`),
    get(`/npm/@${owner}/history`),
    get(`/npm/@${owner}/large`),
    get(`/npm/@${owner}/wide`),
    get(`/npm/@${owner}/large/-/large-1.0.0.tgz`),
    get(`/npm/@${owner}/wide/-/wide-1.0.0.tgz`),
    get(`/${owner}/.well-known/skills/large/large.png`),
    get('/npm/-/v1/search?text=table&size=100'),
    get(`/v2/${owner}/history/tags/list`),
    get(`/v2/${owner}/history/manifests/latest`),
    // An unknown digest may take several requests until all archives were built once.
    get(`/v2/${owner}/history/blobs/${digest}`, {}, 503),
    get(`/v2/${owner}/large/manifests/latest`),
    get(`/${owner}/.well-known/agent-skills/large-1.0.0.zip`),
    get(`/${owner}/.well-known/agent-skills/wide-1.0.0.zip`),
    get('/api/search?q=table&limit=100'),
    get(`${clawhub}/search?q=table&limit=200`),
    get(`${clawhub}/search?q=table&mode=exact`),
    get(`${clawhub}/skills?sort=downloads&limit=200`),
    get(`${clawhub}/skills?prefix=zzz&limit=200`),
    get(`${clawhub}/skills/history/versions?ownerHandle=${owner}&limit=200`),
    get(`${clawhub}/resolve?slug=history&ownerHandle=${owner}&hash=0`),
    get(`${clawhub}/resolve?slug=wide&ownerHandle=${owner}&hash=0`),
    get(`${clawhub}/skills/large/verify?ownerHandle=${owner}`),
    get(`${clawhub}/download?slug=large&ownerHandle=${owner}`),
  ]
}

function listMessages({ values }: WorstSizes): WorstRequest[] {
  const headers = { accept: 'application/json, text/event-stream' }
  const message = (title: string, call: object) =>
    send(`MCP ${title}`, '/mcp', { jsonrpc: '2.0', id: 1, ...call }, { headers })
  const tool = (name: string, args: object) =>
    message(name, { method: 'tools/call', params: { name, arguments: args } })
  const uri = (name: string, path: string) => `skill://${owner}/${name}/${path}`
  return [
    message('tools/list', { method: 'tools/list', params: {} }),
    message('resources/list', { method: 'resources/list', params: {} }),
    message('skills/list', { method: 'skills/list', params: {} }),
    message('skills/get of many files', { method: 'skills/get', params: { uri: uri('wide', 'SKILL.md') } }),
    message('resources/read', { method: 'resources/read', params: { uri: uri('large', 'SKILL.md') } }),
    message('resources/read of a picture', { method: 'resources/read', params: { uri: uri('large', 'large.png') } }),
    tool('search_skills', { query: need, limit: 50, context }),
    tool('load_skill', { name: `${owner}/large`, level: 'full', maxTokens: 100_000 }),
    tool('load_skill', { name: `${owner}/large`, level: 'full' }),
    tool('list_packs', { limit: 100 }),
    message('with many values', {
      method: 'tools/list',
      params: { _meta: { list: Array.from({ length: Math.min(values, 250_000) }, () => 0) } },
    }),
  ]
}

const need = 'compare a table with another table and tell the difference of each column, step by step. '
  .repeat(30)
  .slice(0, 1000)
const context = {
  files: Array.from({ length: 100 }, (_, i) => `src/tables/column-${i}/${'deep/'.repeat(40)}read.ts`),
  languages: Array.from({ length: 20 }, (_, i) => `language-${i}`),
  installed: Array.from({ length: 100 }, (_, i) => `${owner}/${nameOf(i)}`),
}

function listReads({ versions }: WorstSizes): WorstRequest[] {
  const skill = (name: string) => `/api/v1/skills/${owner}%2F${name}`
  const query = encodeURIComponent(need)
  return [
    get('/api/v1/suggest?q=table&limit=20'),
    get('/api/v1/categories'),
    get(`${skill('wide')}/versions/1.0.0`),
    get(`${skill('large')}/files/large.png`),
    get(`${skill('history')}/forks?limit=100`),
    get(`${skill('required')}/dependents?limit=100`),
    get(`${skill('history')}/downloads`),
    get(`${skill('history')}/recalls`),
    get('/api/v1/checkpoint'),
    get('/api/v1/agents?limit=100'),
    get('/api/v1/reputation/leaderboard?limit=100'),
    get('/openapi.json'),
    get('/metrics'),
    get('/api/v1/skills?limit=100'),
    get('/api/v1/skills?page=6&limit=100&sort=recent'),
    get(`/api/v1/skills?limit=100&explain=true&q=${query}`),
    get(`/api/v1/skills?limit=100&owner=${owner}`),
    get(skill('history')),
    get(skill('wide')),
    get(skill('large')),
    get(`${skill('history')}/versions?limit=100`),
    get(`${skill('wide')}/versions?limit=100`),
    get(`${skill('history')}/diff?from=1.0.0&to=1.0.${versions - 1}`),
    get(`${skill('large')}/diff?from=1.0.0&to=1.0.1`),
    get(`${skill('large')}/similarity`),
    get(`${skill(nameOf(0))}/similarity`),
    get(`${skill('large')}/archive`),
    get(`${skill('wide')}/archive`),
    get(`${skill('large')}/skill.md`),
    get(`${skill('large')}/load?level=full`),
    get(`${skill('large')}/load?level=full&maxTokens=100000&priority=${query.slice(0, 300)}`),
    get(`${skill('large')}/load?level=summary`),
    get(`${skill('history')}/provenance`),
    get(`${skill('wide')}/versions/latest/sbom`),
    get(`${skill('packages')}/versions/latest/sbom`),
    get('/api/v1/packs?limit=100'),
    get(`/api/v1/packs?limit=100&q=${encodeURIComponent('pack tables '.repeat(8).trim())}`),
    get('/api/v1/packs/pack-0'),
    get('/api/v1/feed?limit=1000'),
    get('/api/v1/trending?limit=100'),
    get('/api/v1/external?limit=100'),
    get(`/api/v1/users/${owner}`),
  ]
}

const publish = (name: string, more: object) => ({ skillMd: toSkillMd(name, 'Published.'), dryRun: true, ...more })

function listBodies(sizes: WorstSizes, key: string): WorstRequest[] {
  const { items, values, pictureBytes, wideFiles, packSkills } = sizes
  const skills = Array.from({ length: items }, (_, i) => `${owner}/${nameOf(i)}`)
  const installed = skills.map((skillName) => ({ skillName, version: '0.9.0', digest }))
  const digests = Array.from({ length: items }, (_, i) => `sha256:${String(i).padStart(64, '0')}`)
  const picture = Buffer.alloc(pictureBytes, 7)
  Buffer.from('89504e470d0a1a0a', 'hex').copy(picture)
  const files = Array.from({ length: wideFiles - 1 }, (_, i) => ({ path: `part-${i}.md`, content: `Part ${i}.\n` }))
  return [
    send('POST /search', '/api/v1/search', { q: need.repeat(2), context, limit: 100, explain: true }),
    send('POST /blobs/batch of unknown digests', '/api/v1/blobs/batch', { digests }),
    send('POST /resolve', '/api/v1/resolve', { skills: skills.slice(0, sizes.skills).map((name) => ({ name })) }),
    send('POST /heartbeat of a guest', '/api/v1/heartbeat', { installedSkills: installed }),
    send('POST /heartbeat of a user', '/api/v1/heartbeat', { installedSkills: installed }, { key }),
    send(
      'POST /track',
      '/api/v1/track',
      {
        skillName: `${owner}/history`,
        agents: Array.from({ length: 100 }, (_, i) => `agent-${i}`),
      },
      { status: 202 },
    ),
    send(
      'PUT /skills of one large file',
      '/api/v1/skills',
      publish('fresh', {
        files: [{ path: 'large.png', content: picture.toString('base64'), encoding: 'base64' }],
      }),
      { method: 'PUT', key, status: 201 },
    ),
    send('PUT /skills of many files', '/api/v1/skills', publish('fresh', { files }), {
      method: 'PUT',
      key,
      status: 201,
    }),
    send('PUT /skills with the most values', '/api/v1/skills', `{"files":[${'0,'.repeat(values - 4)}0]}`, {
      method: 'PUT',
      key,
      status: 400,
    }),
    send(
      'PUT /skills with a document of escapes',
      '/api/v1/skills',
      `{"skillMd":"${String.raw`\u0061`.repeat(Math.floor(pictureBytes / 6))}"}`,
      {
        method: 'PUT',
        key,
        status: 422,
      },
    ),
    send(
      'PATCH /packs',
      '/api/v1/packs/pack-0',
      { skills: skills.slice(0, packSkills).toReversed() },
      { method: 'PATCH', key },
    ),
  ]
}
