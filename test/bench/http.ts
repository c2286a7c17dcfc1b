import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RegistryOptions } from '@skillstead/core'
import { startBare, startNode, type Child } from './children.ts'
import { load, publish, requireWrk, rotate } from './load.ts'
import { median } from './statistics.ts'

const runs = 5
/** The median document of the corpus has about this many bytes. */
const publishedBytes = 5700

/**
 * Prints what a node with the corpus loaded does over HTTP, as a share of a bare `node:http` server that answers as many
 * bytes; the two are loaded in turn.
 */
export async function benchHttp(
  title: string,
  location: RegistryOptions,
  key: string,
  corpusDir: string,
): Promise<void> {
  requireWrk()
  const warm = await startNode(location)
  const cold = await startNode({ ...location, answerBytesMax: 0 })
  const { delayMaxMs } = await warm.vitals('warm')
  await cold.vitals('warm')
  const details = await readDetailPaths(warm)
  const searches = readSearchPaths(corpusDir)
  const bareDetails = await startBare(await measureSizes(warm, details))
  const bareSearches = await startBare(await measureSizes(warm, searches))

  console.log(`\nHTTP on ${title}: ${runs} runs in turn, requests a second, and the share of bare node:http`)
  const results = {
    'GET /skills/<name>, kept': await compare(warm, bareDetails, details),
    'GET /skills/<name>, built anew': await compare(cold, bareDetails, details),
    'GET /skills?q=': await compare(cold, bareSearches, searches),
  }
  const { rssMib } = await warm.vitals()
  console.table({ ...results, 'PUT /skills': await benchPublish(warm, key, readWords(corpusDir)) })
  console.log(`event loop held while warming: ${delayMaxMs.toFixed(0)} ms at most`)
  console.log(`resident memory after the reads, before the publishes: ${rssMib.toFixed(0)} MiB`)
  for (const child of [warm, cold, bareDetails, bareSearches]) await child.stop()
}

async function compare(node: Child, bare: Child, paths: readonly string[]) {
  const script = rotate(paths)
  await load(node.url, script)
  await load(bare.url, script, { seconds: 1 })
  const ours: number[] = []
  const theirs: number[] = []
  const p99: number[] = []
  for (let i = 0; i < runs; i++) {
    const own = await load(node.url, script)
    if (own.errors > 0) throw new Error(`${own.errors} requests of the benchmark failed.`)
    ours.push(own.perSecond)
    p99.push(own.p99Ms)
    theirs.push((await load(bare.url, script)).perSecond)
  }
  const ratio = median(ours.map((own, i) => own / theirs[i]!))
  return {
    perSecond: Math.round(median(ours)),
    bare: Math.round(median(theirs)),
    ratio: ratio.toFixed(3),
    p99Ms: median(p99).toFixed(2),
  }
}

async function benchPublish(node: Child, key: string, words: readonly string[]) {
  const perSecond: number[] = []
  const p99: number[] = []
  for (let i = 0; i < runs; i++) {
    const script = publish(key, { bytes: publishedBytes, words }, Date.now() % 1_000_000)
    const result = await load(node.url, script)
    if (result.errors > 0) throw new Error(`${result.errors} publishes of the benchmark failed.`)
    perSecond.push(result.perSecond)
    p99.push(result.p99Ms)
  }
  return { perSecond: Math.round(median(perSecond)), p99Ms: median(p99).toFixed(2) }
}

/** Where the details of every skill are. */
export async function readDetailPaths({ url }: { url: string }): Promise<string[]> {
  const names: string[] = []
  for (let page = 1; ; page++) {
    const response = await fetch(`${url}/api/v1/skills?limit=100&page=${page}`)
    const { skills, totalPages } = (await response.json()) as { skills: { fullName: string }[]; totalPages: number }
    names.push(...skills.map(({ fullName }) => fullName))
    if (page >= totalPages) return names.map((name) => `/api/v1/skills/${encodeURIComponent(name)}`)
  }
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
function readWords(corpusDir: string): string[] {
  return [...new Set(readQueries(corpusDir).flatMap((query) => query.toLowerCase().match(/[a-z]{2,}/g) ?? []))]
}

async function measureSizes(node: Child, paths: readonly string[]): Promise<string> {
  const sizes: Record<string, number> = {}
  for (const path of paths) sizes[path] = (await (await fetch(node.url + path)).arrayBuffer()).byteLength
  const file = join(mkdtempSync(join(tmpdir(), 'skillstead-bench-')), 'sizes.json')
  writeFileSync(file, JSON.stringify(sizes))
  return file
}
