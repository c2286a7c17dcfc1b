import { rm } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import type { SearchResult } from '@skillstead/protocol'
import pg from 'pg'
import { pick, seededRandom } from '../support/random.ts'
import { startPostgres } from '../support/postgres.ts'
import { makePublisher } from './bench.ts'
import { importCorpus, writeCorpus } from './catalogue.ts'
import { startNode, type Child } from './children.ts'
import type { Figure } from './figures.ts'
import { makeScratch } from './scratch.ts'
import { quantile } from './statistics.ts'
import { makeSkills, toQuery } from './synthetic.ts'

/** Skills that are imported; the others are copies of their rows, because importing a million takes an hour. */
const importedMax = 10_000
/** Requests of each kind, one after another. */
const requests = 60
const taskWords = 40
/** Targets for the medians with a million skills. */
const mostMs: Readonly<Record<string, number>> = {
  'a list': 50,
  'a search': 150,
  'a need of a task': 300,
  'a publish': 40,
}
const gibibyte = 1024 ** 3

/**
 * The tables that a read or a search needs, and their columns that differ in a copy: the others are the same, so that
 * every word is in the same share of the skills. The documents of copies show the names of their originals.
 */
const copied: Readonly<Record<string, readonly string[]>> = {
  skills: ['num', 'id', 'name', 'full_name'],
  skill_documents: ['skill_id'],
  skill_text: ['num'],
  versions: ['id', 'skill_id'],
  version_files: ['version_id'],
  version_access: ['version_id'],
  version_terms: ['version_id'],
  scans: ['version_id', 'skill_id'],
}

/** What a node on PostgreSQL needs for many skills, which it searches in the database, and what requests cost. */
export async function benchScale(skills: number): Promise<Figure[]> {
  const part = `PostgreSQL with ${skills.toLocaleString('en')} skills`
  const folder = makeScratch('scale')
  const postgres = await startPostgres()
  try {
    const databaseUrl = await postgres.createDatabase()
    const key = await makePublisher({ databaseUrl })
    const imported = Math.min(Math.ceil(skills / 10), importedMax)
    await writeCorpus(folder, imported)
    await importCorpus(join(folder, 'open.ndjson.gz'), ['--database-url', databaseUrl])
    const client = new pg.Client(databaseUrl)
    await client.connect()
    await copyRows(client, Math.ceil(skills / imported))
    const sizes = await measureSizes(client)
    const asked = { databaseUrl, key, imported }
    const figures = await measureNode(asked, 5)
    const buffersMib = Math.floor(totalmem() / 4 / 1024 ** 2)
    await client.query(`alter system set shared_buffers = '${buffersMib} MB'`)
    await client.query('checkpoint')
    await client.end()
    await postgres.kill('SIGQUIT')
    await postgres.restart()
    const cached = await measureNode(asked, 6)
    return [
      ...[...sizes, ...figures].map((figure) => ({ part, ...figure })),
      ...cached.map((figure) => ({ part: `${part}, a quarter of the memory as its shared_buffers`, ...figure })),
    ]
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Measured = Omit<Figure, 'part'>

interface Asked {
  readonly databaseUrl: string
  readonly key: string
  /** Number of skills that are no copies. */
  readonly imported: number
}

/** What requests to a new node cost. It publishes the skills that are made from `seed`. */
async function measureNode({ databaseUrl, key, imported }: Asked, seed: number): Promise<Measured[]> {
  const node = await startNode({ databaseUrl, answerBytesMax: 0, memorySkillsMax: 0 })
  await node.vitals('warm')
  const figures = await measureRequests(node, { key, imported, seed })
  const { rssMib } = await node.vitals()
  await node.stop()
  return [...figures, { name: 'resident memory of the node', value: rssMib, unit: 'MiB' }]
}

/** Copies all rows `times - 1` times. The index over the texts is built in the end, which is faster. */
async function copyRows(client: pg.Client, times: number): Promise<void> {
  await client.query(`set session_replication_role = replica; set synchronous_commit = off`)
  await client.query(`set maintenance_work_mem = '1GB'; drop index skill_text_vector`)
  for (const [table, changed] of Object.entries(copied)) {
    const { rows } = await client.query<{ name: string; type: string }>(
      `select column_name as name, data_type as type from information_schema.columns where table_name = $1`,
      [table],
    )
    const values = rows.map(({ name, type }) => {
      if (!changed.includes(name)) return name
      return type === 'text' ? `${name} || '-' || copy` : `${name} + copy * (select max(num) from originals)`
    })
    const columns = rows.map(({ name }) => name).join()
    await client.query(`create temporary table if not exists originals as select num from skills`)
    await client.query(
      `insert into ${table} (${columns})
        select ${values.join()} from ${table}, generate_series(1, ${times - 1}) as copy`,
    )
    console.log(`Copied ${table}.`)
  }
  await client.query(`select setval(pg_get_serial_sequence('skills', 'num'), (select max(num) from skills))`)
  await client.query(`create index skill_text_vector on skill_text using gin (vector)`)
  await client.query('vacuum analyze')
  // Otherwise PostgreSQL writes the copied rows to its files during the requests.
  await client.query('checkpoint')
}

async function measureSizes(client: pg.Client): Promise<Measured[]> {
  const { rows } = await client.query<{ all: string; texts: string; index: string }>(
    `select pg_database_size(current_database()) as all, pg_table_size('skill_text') as texts,
      pg_relation_size('skill_text_vector') as index`,
  )
  const names = { all: 'database', texts: 'words of the skills', index: 'index of these words' }
  return Object.entries(rows[0]!).map(([name, bytes]) => {
    return { name: names[name as keyof typeof names], value: Number(bytes) / gibibyte, unit: 'GiB' }
  })
}

/** Milliseconds of each kind of request. */
async function measureRequests(
  { url }: Child,
  { key, imported, seed }: { readonly key: string; readonly imported: number; readonly seed: number },
): Promise<Measured[]> {
  const random = seededRandom(7)
  const skills = [...makeSkills(Math.min(imported, 1000))]
  const some = () => pick(random, skills)
  const list = await fetch(`${url}/api/v1/skills?limit=100`)
  const listed = ((await list.json()) as SearchResult).skills.map(({ fullName }) => fullName)
  const published = makeSkills(requests + 1, seed)
  const kinds: Record<string, () => [path: string, init?: RequestInit]> = {
    'a list': () => [`/skills?page=${1 + Math.floor(random() * 50)}`],
    'details of a skill': () => [`/skills/${encodeURIComponent(pick(random, listed))}`],
    'a search': () => [toSearch(toQuery(some(), random).query)],
    'a need of a task': () => [toSearch(toWords(some().skillMd))],
    'a publish': () => {
      const body = JSON.stringify({ skillMd: published.next().value!.skillMd })
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
      return ['/skills', { method: 'PUT', headers, body }]
    },
  }
  const figures: Measured[] = []
  for (const [name, toRequest] of Object.entries(kinds)) {
    const times: number[] = []
    for (let i = 0; i <= requests; i++) {
      const [path, init] = toRequest()
      const startedMs = performance.now()
      const response = await fetch(`${url}/api/v1${path}`, init)
      await response.arrayBuffer()
      if (!response.ok) throw new Error(`${name} was answered with ${response.status}.`)
      times.push(performance.now() - startedMs)
    }
    // The first one compiles code and prepares statements, and of the publishes it starts a scan thread.
    const [first] = times.splice(0, 1)
    figures.push(
      { name: `${name}, the first`, value: first!, unit: 'ms' },
      {
        name: `${name}, median`,
        value: quantile(times, 0.5),
        unit: 'ms',
        note: 'one request after another',
        ...toTarget(name),
      },
      { name: `${name}, 99th percentile`, value: quantile(times, 0.99), unit: 'ms' },
    )
  }
  return figures
}

const toTarget = (name: string) => (mostMs[name] === undefined ? {} : { most: mostMs[name] })

const toSearch = (q: string) => `/skills?q=${encodeURIComponent(q)}`

/** Words of the middle of a document: as many as a described task has. */
function toWords(skillMd: string): string {
  const words = skillMd.split(/\W+/)
  const start = Math.max(0, Math.floor(words.length / 2) - taskWords)
  return words.slice(start, start + taskWords).join(' ')
}
