import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { EmptyPlace } from './bench.ts'
import { startBare, startNode, watchProcess, type Child } from './children.ts'
import type { Figure } from './figures.ts'
import { measureSizes, readDetailPaths, readSearchPaths, readWords } from './http.ts'
import { load, type LoadOptions, publish, type PublishedText, requireWrk, rotate } from './load.ts'
import { toModuleChart } from './module-chart.ts'
import type { StatementTime } from './profiler.ts'
import { readCpu } from './processes.ts'
import { toBudget } from './publish-budget.ts'
import { checkOut, workspace } from './revision.ts'
import { makeScratch } from './scratch.ts'
import { readStages, type StageName } from './stages.ts'
import { median } from './statistics.ts'

const sqlStage: StageName = 'SQL: run'
const publishedBytes = 5700
const statementsShown = 12
const loadsMax = 5
/** Lists as the pages and clients ask for them. */
const listPaths = ['sort=downloads', 'sort=recent', 'sort=stars&page=3', 'sort=recent&limit=100'].map(
  (query) => `/api/v1/skills?${query}`,
)

export interface ProfileOptions {
  readonly corpus: string
  /** A revision of this repository to compare with. */
  readonly against?: string
  /** Only works whose name contains this. Default: all. */
  readonly only?: string
  readonly turns: number
  readonly seconds: number
  /** Where the profiles are written, which Chrome and `speedscope` show as flame charts. */
  readonly folder: string
}

/** A workspace to measure. */
interface Tree {
  readonly name: string
  readonly root: string
}

/** CPU time in milliseconds of all threads, and how many operations it was spent on. */
interface Cost {
  readonly cpuMs: number
  readonly count: number
  /** Of the processes of PostgreSQL. */
  readonly postgresMs?: number
}

/** The statements that ran while a profile was recorded, with the number of operations. */
interface Profiled {
  readonly cost: Cost
  readonly threadCpuMs?: number
  readonly statements: readonly StatementTime[]
}

interface Work {
  readonly name: string
  /** Whether a first turn, in which code is compiled and threads start, does not count. */
  readonly needsWarmth?: true
  /** What it publishes, for a budget. */
  readonly published?: PublishedText
  /** Whether modules are loaded in it, so that they are shown. */
  readonly isStart?: true
  run(tree: Tree): Promise<Cost>
  /** Runs it once more and writes a profile. Absent for other programs. */
  profile?(tree: Tree, file: string): Promise<Profiled>
}

/**
 * Measures the CPU time of an import, a start, reads and publishes, in alternating turns with another revision if one is
 * given, and prints what each spends its time on. `place` is where the first registry is made.
 */
export async function benchProfile(place: EmptyPlace, options: ProfileOptions): Promise<Figure[]> {
  requireWrk()
  const part = `CPU time, ${place.title}`
  const { against, only = '', turns, folder } = options
  const now = { name: 'now', root: workspace }
  const trees = against === undefined ? [now] : [{ name: against, root: checkOut(against) }, now]
  mkdirSync(folder, { recursive: true })
  const places = new Map<Tree, EmptyPlace>()
  const figures: Figure[] = []
  const profiles: [work: Work, file: string, Profiled][] = []
  async function measure(works: readonly Work[]): Promise<void> {
    for (const work of works.filter(({ name }) => name.includes(only))) {
      const costs: number[][] = []
      if (work.needsWarmth) await inTurn(trees, work)
      for (let turn = 0; turn < turns; turn++) costs.push(await inTurn(trees, work))
      figures.push({ part, ...toFigure(work.name, costs, against) })
      const file = join(folder, `${work.name.replaceAll(/\W+/g, '-')}.cpuprofile`)
      if (work.profile) profiles.push([work, file, await work.profile(now, file)])
    }
  }
  const importing = toImport(options.corpus, place, places)
  await inTurn(trees, importing)
  await measure([importing, toStart(places)])
  const nodes = new Map<Tree, Nodes>()
  for (const tree of trees) nodes.set(tree, await startNodes(tree, places.get(tree)!))
  const paths = await readDetailPaths(nodes.get(now)!.warm)
  const { sizes, headers } = await measureSizes(nodes.get(now)!.warm, paths)
  const bare = await startBare({ sizes })
  const bareWhole = await startBare({ sizes, headers })
  const details = rotate(paths)
  const toBare = (name: string, node: Child): Work => {
    const { profile: _profile, ...work } = toRequest(name, () => ({ node, script: details }), options)
    return work
  }
  await measure([
    ...toRequests(options, nodes, details),
    toBare('GET from bare node:http, as many bytes', bare),
    toBare('GET from bare node:http, all headers too', bareWhole),
  ])
  for (const child of [bare, bareWhole]) await child.stop()
  for (const { warm, cold } of nodes.values()) for (const node of [warm, cold]) await node.stop()
  for (const [work, file, profiled] of profiles) printProfile(work, file, profiled)
  console.log(`\n${part}, medians of ${turns} turns`)
  console.table(
    Object.fromEntries(
      figures.map(({ name, value, unit, note = '' }) => [name, { value: Number(value.toPrecision(3)), unit, note }]),
    ),
  )
  return figures
}

/** The cost of an operation in milliseconds for each tree. */
async function inTurn(trees: readonly Tree[], work: Work): Promise<number[]> {
  const costs: number[] = []
  for (const tree of trees) {
    const { cpuMs, count } = await work.run(tree)
    costs.push(cpuMs / count)
  }
  return costs
}

function toFigure(name: string, costs: readonly number[][], against: string | undefined): Omit<Figure, 'part'> {
  const value = median(costs.map((turn) => turn.at(-1)!))
  const figure = { name, value: value * 1000, unit: 'µs of CPU' }
  if (against === undefined) return figure
  const ratio = median(costs.map(([before, after]) => after! / before!))
  return { ...figure, note: `${ratio.toFixed(3)} of ${against}` }
}

interface Nodes {
  readonly warm: Child
  /** Caches no responses. */
  readonly cold: Child
  readonly key: string
}

async function startNodes({ root }: Tree, { location, args }: EmptyPlace): Promise<Nodes> {
  let other = location
  if (location.path !== undefined) {
    const copy = makeScratch('cold')
    cpSync(dirname(location.path), copy, { recursive: true })
    other = { path: join(copy, basename(location.path)) }
  }
  const { line } = await runCli(root, ['users', 'create', 'bench', ...args, '--json'])
  const { key } = JSON.parse(line) as { key: string }
  const warm = await startNode(location, root)
  const cold = await startNode({ ...other, answerBytesMax: 0 }, root)
  for (const node of [warm, cold]) await node.vitals('warm')
  return { warm, cold, key }
}

function toRequests(options: ProfileOptions, nodes: ReadonlyMap<Tree, Nodes>, details: string): Work[] {
  const searches = rotate(readSearchPaths(options.corpus))
  const lists = rotate(listPaths)
  const words = readWords(options.corpus)
  let round = 0
  const publishing = { bytes: publishedBytes, words }
  const of = (kind: 'warm' | 'cold', script: string) => (tree: Tree) => ({ node: nodes.get(tree)![kind], script })
  return [
    toRequest('GET detail, cached', of('warm', details), options),
    toRequest('GET detail, built', of('cold', details), options),
    toRequest('GET search, built', of('cold', searches), options),
    toRequest('GET list, built', of('cold', lists), options),
    {
      ...toRequest(
        'PUT skill',
        (tree) => ({ node: nodes.get(tree)!.warm, script: publish(nodes.get(tree)!.key, publishing, ++round) }),
        { ...options, connections: 16 },
      ),
      published: publishing,
    },
  ]
}

/** A work that loads a server for some seconds. */
function toRequest(
  name: string,
  toLoad: (tree: Tree) => { node: Child; script: string },
  { seconds, connections = 32 }: { seconds: number; connections?: number },
): Work {
  async function run(tree: Tree) {
    const { node, script } = toLoad(tree)
    const before = await node.vitals()
    const postgresBefore = (await readCpu()).postgres
    const { requests, errors } = await loadUntilAnswered(node.url, script, { seconds, connections })
    if (errors > 0) throw new Error(`${errors} requests of the benchmark failed.`)
    const postgresMs = ((await readCpu()).postgres - postgresBefore) * 1000
    const after = await node.vitals()
    const threadCpuMs = after.threadCpuMs - before.threadCpuMs
    return { cpuMs: after.cpuMs - before.cpuMs, count: requests, threadCpuMs, postgresMs }
  }
  return {
    name,
    needsWarmth: true,
    run,
    async profile(tree, file) {
      const { node } = toLoad(tree)
      await node.vitals('profile')
      const { threadCpuMs, ...cost } = await run(tree)
      return { cost, threadCpuMs, statements: await node.stopProfile(file) }
    },
  }
}

/**
 * Loads a server again, each time for twice as long, while not one request finishes: as on a machine that does other work, or
 * at the first publishes after an import into PostgreSQL.
 */
async function loadUntilAnswered(url: string, script: string, { seconds, connections }: Required<LoadOptions>) {
  for (let turn = 0; turn < loadsMax; turn++) {
    const done = await load(url, script, { seconds: seconds * 2 ** turn, connections })
    if (done.requests > 0) return done
  }
  throw new Error(`Not one request finished in ${seconds * 2 ** (loadsMax - 1)} s: the machine is too busy.`)
}

/** Imports the corpus into a new registry, which stays for the works after it. */
function toImport(corpus: string, first: EmptyPlace, places: Map<Tree, EmptyPlace>): Work {
  async function run({ root }: Tree, { args }: EmptyPlace, profile?: string): Promise<Cost> {
    const all = ['import', join(corpus, 'open.ndjson.gz'), ...args, '--json']
    const { cpuMs, line } = await runCli(root, all, { profile })
    return { cpuMs, count: (JSON.parse(line) as { versionsCreated: number }).versionsCreated }
  }
  return {
    name: 'import of a version',
    async run(tree) {
      await places.get(tree)?.remove()
      const place = await first.another()
      places.set(tree, place)
      return run(tree, place)
    },
    async profile(tree, file) {
      const place = await first.another()
      const cost = await run(tree, place, file)
      await place.remove()
      return { cost, statements: [] }
    },
  }
}

function toStart(places: ReadonlyMap<Tree, EmptyPlace>): Work {
  async function run(tree: Tree, profile?: string): Promise<Cost> {
    const args = ['serve', '--port', '0', ...places.get(tree)!.args, '--json']
    const { cpuMs } = await runCli(tree.root, args, { profile, isServer: true })
    return { cpuMs, count: 1 }
  }
  return {
    name: 'start, one answer, stop',
    isStart: true,
    run: (tree) => run(tree),
    profile: async (tree, file) => ({ cost: await run(tree, file), statements: [] }),
  }
}

interface RunOptions {
  /** Where to write the profile of the main thread. */
  readonly profile?: string | undefined
  /** Asks the node for one page and stops it when it has printed its URL. */
  readonly isServer?: boolean
}

/** Runs the command of a workspace; returns what it printed first and its CPU time. */
async function runCli(root: string, args: readonly string[], { profile, isServer = false }: RunOptions = {}) {
  const scratch = makeScratch('usage')
  const usage = join(scratch, 'usage.json')
  const flags = profile === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', scratch, '--cpu-prof-interval', '500']
  const program = join(root, 'packages/cli/src/main.ts')
  const reporter = join(root, 'test/bench/usage-report.ts')
  const child = spawn(process.execPath, ['--conditions=source', ...flags, '--import', reporter, program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, SKILLSTEAD_BENCH_USAGE: usage },
  })
  watchProcess(child)
  const ended = once(child, 'exit')
  let line = ''
  for await (const chunk of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
    line += chunk
    if (!isServer || !line.includes('\n')) continue
    await (await fetch(`${(JSON.parse(line) as { url: string }).url}/api/v1/skills?limit=1`)).arrayBuffer()
    child.kill('SIGTERM')
  }
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`\`skillstead ${args[0]}\` ended with ${code}.`)
  // The number after the process id is that of the thread; 0 is the main thread.
  const written = readdirSync(scratch).find((name) => /^CPU\.\d+\.\d+\.\d+\.0\./.test(name))
  if (profile !== undefined) renameSync(join(scratch, written!), profile)
  const { user, system } = JSON.parse(readFileSync(usage, 'utf8')) as NodeJS.CpuUsage
  return { line, cpuMs: (user + system) / 1000 }
}

function printProfile({ name, published, isStart }: Work, file: string, { cost, threadCpuMs, statements }: Profiled) {
  const { busyMs, shares } = readStages(file)
  const toMicroseconds = (ms: number) => Number(((ms * 1000) / cost.count).toPrecision(3))
  const mainMs = threadCpuMs ?? Math.min(busyMs, cost.cpuMs)
  // The samples of SQLite include the time in which a commit waits for the disk, so its CPU time is measured by statement.
  const hasSqlite = statements.some(({ cpuMs }) => cpuMs !== undefined)
  const sqlMs = hasSqlite ? sumCpuMs(statements) : undefined
  const sqlShare = new Map(shares).get(sqlStage) ?? 0
  const stages = shares.map(([stage, share]): [StageName, number] => {
    if (sqlMs === undefined) return [stage, mainMs * share]
    return [stage, stage === sqlStage ? sqlMs : ((mainMs - sqlMs) * share) / (1 - sqlShare)]
  })
  const threadsMs = cost.cpuMs - mainMs
  const { postgresMs = 0 } = cost
  console.log(`\n${name}: where its CPU time goes, µs of one operation while profiled (${file})`)
  console.table({
    'all threads': { µs: toMicroseconds(cost.cpuMs), share: '' },
    'threads other than that of the event loop': { µs: toMicroseconds(threadsMs), share: '' },
    ...(postgresMs > 0 && { 'PostgreSQL, in addition': { µs: toMicroseconds(postgresMs), share: '' } }),
    ...Object.fromEntries(
      stages
        .toSorted((a, b) => b[1] - a[1])
        .map(([stage, ms]) => [stage, { µs: toMicroseconds(ms), share: (ms / mainMs).toFixed(3) }]),
    ),
  })
  if (isStart) console.log(`\n${name}: its modules, ms while profiled\n${toModuleChart(file)}`)
  if (statements.length === 0) return
  console.log('Its transactions by statement:')
  const rows = statements.slice(0, statementsShown).map(({ sql, count, ms, cpuMs }) => [
    sql.replaceAll(/\s+/g, ' ').slice(0, 90),
    {
      'runs of one operation': Number((count / cost.count).toFixed(2)),
      ...(cpuMs !== undefined && { 'µs of CPU': toMicroseconds(cpuMs) }),
      'µs with waiting': toMicroseconds(ms),
    },
  ])
  console.table(Object.fromEntries(rows))
  const runs = statements.reduce((sum, { count }) => sum + count, 0)
  console.log(`${(runs / cost.count).toFixed(1)} statements an operation, ${statements.length} different ones.`)
  if (!published) return
  const commitMs = sumCpuMs(statements.filter(({ sql }) => sql === 'commit'))
  const budget = toBudget(
    {
      stages: Object.fromEntries(stages.map(([stage, ms]) => [stage, toMicroseconds(ms)])),
      threadsUs: toMicroseconds(threadsMs),
      ...(hasSqlite
        ? {
            sqlite: {
              commitUs: toMicroseconds(commitMs),
              statementsUs: toMicroseconds(sumCpuMs(statements) - commitMs),
            },
          }
        : { postgresUs: toMicroseconds(postgresMs) }),
      allUs: toMicroseconds(cost.cpuMs + postgresMs),
    },
    published,
  )
  console.log(`\n${name}: its budget, µs of CPU, with the least that could do the same`)
  console.table(
    Object.fromEntries(
      budget.map(({ part: row, us, limitUs, limit }) => [
        row,
        { µs: toTenth(us), ...(limitUs !== undefined && { limit: toTenth(limitUs), of: limit }) },
      ]),
    ),
  )
}

const toTenth = (value: number) => Math.round(value * 10) / 10
const sumCpuMs = (statements: readonly StatementTime[]) => statements.reduce((sum, { cpuMs = 0 }) => sum + cpuMs, 0)
