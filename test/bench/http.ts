import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RegistryOptions } from '@skillstead/core'
import { startBare, startNode, type Child } from './children.ts'
import type { Comparison, Figure } from './figures.ts'
import { load, publish, requireWrk, rotate } from './load.ts'
import { median } from './statistics.ts'
import { startVerdaccio, type PackageText, type Verdaccio } from './verdaccio.ts'

const turnsLong = 5
const turnsShort = 2
/** The median document of the corpus has about this many bytes. */
const publishedBytes = 5700
const publishConnections = 16

/** The least share of what a bare `node:http` server answers, the least publishes a second, and the most of the rest. */
const targets = {
  SQLite: { cached: 0.65, built: 0.32, searches: 0.05, publishes: 470, startMs: 300, memoryMib: 180 },
  PostgreSQL: { cached: 0.6, built: 0.24, searches: 0.04, publishes: 255, startMs: 700 },
} as const
type Targets = (typeof targets)[keyof typeof targets]
const searchP99MsMost = 60

export interface HttpOptions {
  /** The name of the rows among others is made of it: `Over HTTP, SQLite`. */
  readonly database: keyof typeof targets
  readonly location: RegistryOptions
  /** An API key of the node. */
  readonly key: string
  /** Where the searches of what is loaded are. */
  readonly corpusDir: string
  readonly isShort: boolean
  /** Where Verdaccio is installed and filled with as many packages; without it nothing is compared with it. */
  readonly verdaccioFolder?: string
}

/**
 * What a node with the corpus loaded does over HTTP, compared with a bare `node:http` server that responds with as many bytes, and
 * with Verdaccio; all are loaded in turn.
 */
export async function benchHttp(options: HttpOptions): Promise<Figure[]> {
  requireWrk()
  const { database, location, isShort } = options
  const part = `Over HTTP, ${database}`
  const wanted: Targets = targets[database]
  const turns = isShort ? turnsShort : turnsLong
  // The first process waits for the bundle of all. Its index is filled before the start of the other one is timed.
  const cold = await startNode({ ...location, answerBytesMax: 0 })
  await cold.vitals('warm')
  const [warm, startMs] = await startTimed(location)
  const { delayMaxMs } = await warm.vitals('warm')
  const skills = await readSkills(warm)
  const verdaccio = await tryVerdaccio(options.verdaccioFolder, skills)
  const details = skills.map(({ fullName }) => `/api/v1/skills/${encodeURIComponent(fullName)}`)
  const searches = readSearchPaths(options.corpusDir)
  const sizes = { details: await measureSizes(warm, details), searches: await measureSizes(warm, searches) }
  const bareDetails = await startBare({ sizes: sizes.details.sizes })
  const bareSearches = await startBare({ sizes: sizes.searches.sizes })
  const packages = skills.map((skill) => `/${toPackage(skill).name}`)

  const kept = {
    node: warm,
    bare: bareDetails,
    paths: details,
    turns,
    ...(verdaccio && { verdaccio: { verdaccio, packages } }),
  }
  const detailBodies = toBodies(sizes.details.bodyBytes, verdaccio?.bodyBytes)
  const figures: Figure[] = [
    toRow(part, 'GET /skills/<name>, cached', await compare(kept), {
      bodies: detailBodies,
      least: wanted.cached,
    }),
    toRow(part, 'GET /skills/<name>, not cached', await compare({ ...kept, node: cold }), {
      bodies: detailBodies,
      least: wanted.built,
    }),
    ...toSearchRows(part, await compare({ node: cold, bare: bareSearches, paths: searches, turns }), {
      bodies: toBodies(sizes.searches.bodyBytes),
      least: wanted.searches,
    }),
    ...(await toCosts(part, wanted, { node: warm, verdaccio, startMs, delayMaxMs })),
    { part, ...(await benchPublish(warm, options, turns)), least: wanted.publishes },
  ]
  for (const child of [warm, cold, bareDetails, bareSearches]) await child.stop()
  await verdaccio?.stop()
  return figures
}

async function startTimed(location: RegistryOptions): Promise<[Child, number]> {
  const startedMs = performance.now()
  const node = await startNode(location)
  await (await fetch(`${node.url}/healthz`)).arrayBuffer()
  return [node, performance.now() - startedMs]
}

/** Without a network there is no Verdaccio, and everything else is measured all the same. */
async function tryVerdaccio(folder: string | undefined, skills: readonly Skill[]): Promise<Verdaccio | undefined> {
  if (folder === undefined) return undefined
  try {
    const verdaccio = await startVerdaccio(folder, skills.map(toPackage))
    console.log(`\nVerdaccio ${verdaccio.version} serves ${skills.length} packages.`)
    return verdaccio
  } catch (error) {
    console.log(`\n${(error as Error).message} Its column stays empty.`)
    return undefined
  }
}

function toPackage({ fullName, description }: Skill): PackageText {
  return { name: fullName.replaceAll(/[^a-z0-9-]/g, '-'), description }
}

interface Compared {
  readonly node: Child
  readonly bare: Child
  readonly paths: readonly string[]
  readonly turns: number
  readonly verdaccio?: { readonly verdaccio: Verdaccio; readonly packages: readonly string[] }
}

interface Turn {
  readonly ours: number
  readonly bare: number
  readonly verdaccio: number
  readonly p99Ms: number
}

async function compare({ node, bare, paths, turns, verdaccio: other }: Compared): Promise<readonly Turn[]> {
  const script = rotate(paths)
  const otherScript = other && rotate(other.packages)
  const loadOther = () => (other ? loadWell(other.verdaccio.url, otherScript!) : undefined)
  await load(node.url, script)
  await load(bare.url, script, { seconds: 1 })
  await loadOther()
  const measured: Turn[] = []
  for (let i = 0; i < turns; i++) {
    const own = await loadWell(node.url, script)
    const theirs = await loadWell(bare.url, script)
    const others = await loadOther()
    measured.push({
      ours: own.perSecond,
      p99Ms: own.p99Ms,
      bare: theirs.perSecond,
      verdaccio: others?.perSecond ?? NaN,
    })
  }
  return measured
}

async function loadWell(url: string, script: string) {
  const result = await load(url, script)
  if (result.errors > 0) throw new Error(`${result.errors} requests of the benchmark failed.`)
  return result
}

interface Told {
  readonly bodies: string
  /** The least share of what the bare server answers. */
  readonly least: number
}

function toSearchRows(part: string, turns: readonly Turn[], told: Told): Figure[] {
  const name = 'GET /skills?q=, not cached'
  const p99Ms = median(turns.map((turn) => turn.p99Ms))
  return [
    toRow(part, name, turns, told),
    { part, name: `${name}, 99th percentile`, value: p99Ms, unit: 'ms', most: searchP99MsMost },
  ]
}

function toRow(part: string, name: string, turns: readonly Turn[], { bodies, least }: Told): Figure {
  const middle = (of: (turn: Turn) => number) => median(turns.map(of))
  const hasVerdaccio = turns.every(({ verdaccio }) => verdaccio > 0)
  const compared = [toComparison(turns, 'bare', least)]
  if (hasVerdaccio) compared.push(toComparison(turns, 'verdaccio'))
  return {
    part,
    name,
    value: middle(({ ours }) => ours),
    unit: 'requests/s',
    compared,
    note: `p99 ${middle(({ p99Ms }) => p99Ms).toFixed(1)} ms at 32 connections, ${bodies}`,
  }
}

const titles = { bare: 'bare node:http', verdaccio: 'Verdaccio' }

function toComparison(turns: readonly Turn[], other: keyof typeof titles, least?: number): Comparison {
  return {
    with: titles[other],
    value: median(turns.map((turn) => turn[other])),
    ratio: median(turns.map((turn) => turn.ours / turn[other])),
    ...(least !== undefined && { least }),
  }
}

/** A bare server answers as many bytes as ours, and Verdaccio what it has to say. */
function toBodies(bytes: number, verdaccioBytes?: number): string {
  const others = verdaccioBytes === undefined ? '' : `, Verdaccio's ${(verdaccioBytes / 1000).toFixed(1)} kB`
  return `bodies of ${(bytes / 1000).toFixed(1)} kB${others}`
}

interface Running {
  readonly node: Child
  readonly verdaccio: Verdaccio | undefined
  readonly startMs: number
  readonly delayMaxMs: number
}

/** Memory and start, of ours and of Verdaccio after the same reads. */
async function toCosts(part: string, wanted: Targets, running: Running): Promise<Figure[]> {
  const { node, verdaccio, startMs, delayMaxMs } = running
  const { rssMib } = await node.vitals()
  return [
    {
      part,
      name: 'resident memory after the reads',
      value: rssMib,
      unit: 'MiB',
      ...('memoryMib' in wanted && { most: wanted.memoryMib }),
      ...compareWith(rssMib, await verdaccio?.rssMib()),
    },
    {
      part,
      name: 'start to first answer',
      value: startMs,
      unit: 'ms',
      most: wanted.startMs,
      ...compareWith(startMs, verdaccio?.startMs),
    },
    { part, name: 'event loop blocked while warming, at most', value: delayMaxMs, unit: 'ms' },
  ]
}

function compareWith(ours: number, value: number | undefined): Pick<Figure, 'compared'> {
  if (value === undefined || Number.isNaN(value)) return {}
  return { compared: [{ with: titles.verdaccio, value, ratio: ours / value }] }
}

async function benchPublish(
  node: Child,
  { key, corpusDir }: HttpOptions,
  turns: number,
): Promise<Omit<Figure, 'part'>> {
  const words = readWords(corpusDir)
  const perSecond: number[] = []
  const p99: number[] = []
  for (let i = 0; i < turns; i++) {
    const script = publish(key, { bytes: publishedBytes, words }, Date.now() % 1_000_000)
    const result = await load(node.url, script, { connections: publishConnections })
    if (result.errors > 0) throw new Error(`${result.errors} publishes of the benchmark failed.`)
    perSecond.push(result.perSecond)
    p99.push(result.p99Ms)
  }
  const note = `${publishConnections} connections, a text of its own each, p99 ${median(p99).toFixed(0)} ms`
  const name = 'PUT /skills with scan, copy check and log'
  return { name, value: median(perSecond), unit: 'publishes/s', note }
}

interface Skill {
  readonly fullName: string
  readonly description: string
}

/** Every skill that a node lists. */
async function readSkills({ url }: { url: string }): Promise<Skill[]> {
  const all: Skill[] = []
  for (let page = 1; ; page++) {
    const response = await fetch(`${url}/api/v1/skills?limit=100&page=${page}`)
    const { skills, totalPages } = (await response.json()) as { skills: Skill[]; totalPages: number }
    all.push(...skills)
    if (page >= totalPages) return all
  }
}

/** Where the details of every skill are. */
export async function readDetailPaths(node: { url: string }): Promise<string[]> {
  return (await readSkills(node)).map(({ fullName }) => `/api/v1/skills/${encodeURIComponent(fullName)}`)
}

/** Where the searches of the corpus are. */
export function readSearchPaths(corpusDir: string): string[] {
  return readQueries(corpusDir).map((query) => `/api/v1/skills?q=${encodeURIComponent(query)}`)
}

function readQueries(corpusDir: string): string[] {
  const lines = readFileSync(join(corpusDir, 'queries-open.ndjson'), 'utf8').trim().split('\n')
  return [...new Set(lines.map((line) => (JSON.parse(line) as { query: string }).query))]
}

/** Words to write documents with. */
export function readWords(corpusDir: string): string[] {
  return [...new Set(readQueries(corpusDir).flatMap((query) => query.toLowerCase().match(/[a-z]{2,}/g) ?? []))]
}

/** The headers that `node:http` adds itself. */
const ofNode: ReadonlySet<string> = new Set(['date', 'connection', 'keep-alive', 'content-length'])

/** The bytes of each answer, their mean, and the headers of the last one. */
export async function measureSizes(node: Child, paths: readonly string[]) {
  const sizes: Record<string, number> = {}
  let headers: Record<string, string> = {}
  for (const path of paths) {
    const response = await fetch(node.url + path)
    sizes[path] = (await response.arrayBuffer()).byteLength
    headers = Object.fromEntries([...response.headers].filter(([name]) => !ofNode.has(name)))
  }
  const all = Object.values(sizes)
  return { sizes, headers, bodyBytes: all.reduce((sum, bytes) => sum + bytes, 0) / all.length }
}
