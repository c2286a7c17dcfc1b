import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Bench, makePublisher } from './bench.ts'
import { makeCatalogue, type Imported } from './catalogue.ts'
import type { Figure } from './figures.ts'
import type { QueryKind } from './paced-load.ts'

/** Something that is measured, under the name that it is asked for by. */
export interface Part {
  readonly name: string
  readonly about: string
  run(bench: Bench): Promise<readonly Figure[]>
}

const manySkills = [2000, 50_000] as const

/** In this order; each is loaded when its turn comes, so that none waits for the packages of another. */
export const parts: readonly Part[] = [
  {
    name: 'http',
    about: 'reads and publishes over HTTP, compared with bare node:http and Verdaccio',
    async run(bench) {
      const { benchHttp } = await import('./http.ts')
      return bench.onLoaded(
        async ({ title, location }, corpusDir) =>
          benchHttp({
            database: title,
            location,
            key: await makePublisher(location),
            corpusDir,
            isShort: bench.isShort,
            ...(title === 'SQLite' && { verdaccioFolder: bench.newFolder('verdaccio') }),
          }),
        { isOnPage: true },
      )
    },
  },
  {
    name: 'profile',
    about: 'CPU time of reads, publishes, an import and a start, and what it is spent on; writes flame charts',
    async run(bench) {
      const { benchProfile } = await import('./profile.ts')
      const { against, only } = bench.options
      const corpus = await bench.corpus()
      return bench.onEmpty((place) =>
        benchProfile(place, {
          ...(only !== undefined && { only }),
          corpus,
          turns: bench.at(3, 7),
          seconds: bench.isShort ? 2 : 3,
          folder: join('.profiles', place.title),
          ...(against !== undefined && { against }),
        }),
      )
    },
  },
  {
    name: 'searches',
    about: 'searches at a steady rate alongside publishes, with 50,000 skills',
    async run(bench) {
      const { benchSearches } = await import('./searches.ts')
      const folder = bench.newFolder('many')
      const skills = bench.options.skills ?? bench.at(...manySkills)
      const imported = await makeCatalogue(folder, { count: skills })
      const location = { path: join(folder, 'skillstead.db') }
      const figures = await benchSearches({
        location,
        key: await makePublisher(location),
        kinds: readQueryKinds(await bench.corpus()),
        skills,
        isShort: bench.isShort,
      })
      rmSync(folder, { recursive: true })
      return imported ? [...figures, toImportFigure(imported)] : figures
    },
  },
  {
    name: 'memory',
    about: 'what each part of a node takes, with 5,000, 50,000 and 120,000 skills or with --skills N',
    async run(bench) {
      const { benchMemory } = await import('./memory.ts')
      const counts = bench.options.skills ? [bench.options.skills] : bench.at([5000], [5000, 50_000, 120_000])
      const figures: Figure[] = []
      for (const count of counts) {
        const folder = bench.newFolder('memory')
        await makeCatalogue(folder, { count })
        const location = { path: join(folder, 'skillstead.db') }
        await makePublisher(location)
        figures.push(...(await benchMemory(location, count)))
        rmSync(folder, { recursive: true })
      }
      return figures
    },
  },
  {
    name: 'binary',
    about: 'the single file: its size, and how soon it answers',
    async run({ isShort }) {
      const { benchBinary } = await import('./binary.ts')
      return benchBinary({ isShort })
    },
  },
  {
    name: 'eval',
    about: 'runs of test cases by an agent that sleeps, compared with the time of the agent alone',
    async run(bench) {
      const { benchEval } = await import('./eval.ts')
      const folder = bench.newFolder('eval')
      return benchEval(folder, bench.at(1, 3))
    },
  },
  {
    name: 'cluster',
    about: 'three nodes on one PostgreSQL',
    async run({ isShort }) {
      const { benchCluster } = await import('./cluster.ts')
      return benchCluster({ isShort })
    },
  },
  {
    name: 'import',
    about: 'a whole catalogue, and the same again',
    async run(bench) {
      const { benchImport } = await import('./import.ts')
      const corpus = await bench.corpus()
      return bench.onEmpty(({ title, args }) => benchImport(title, args, corpus))
    },
  },
  {
    name: 'track',
    about: 'installs over HTTP',
    async run(bench) {
      const { benchTrack } = await import('./usage.ts')
      return bench.onLoaded(({ title, location }) => benchTrack(title, location))
    },
  },
  {
    name: 'heartbeat',
    about: 'what an agent is told about its skills',
    async run(bench) {
      const { benchHeartbeat } = await import('./heartbeat.ts')
      return bench.onLoaded(({ title, location }) => benchHeartbeat(title, location))
    },
  },
  {
    name: 'resolve',
    about: 'resolving what skills require',
    async run(bench) {
      const { benchResolve } = await import('./resolve.ts')
      return bench.onEmpty(({ title, location }) => benchResolve(title, location))
    },
  },
  {
    name: 'members',
    about: 'lists of a member of organisations, compared with those of a guest',
    async run(bench) {
      const { benchMembers } = await import('./members.ts')
      const requests = bench.at(100, 300)
      return bench.onEmpty(({ title, location }) => benchMembers(title, location, requests))
    },
  },
  {
    name: 'rankings',
    about: 'what trends, and leaderboards',
    async run(bench) {
      const { benchRankings } = await import('./usage.ts')
      const records = bench.at(50_000, 1_000_000)
      return bench.onLoaded(({ title, location }) => benchRankings(title, location, records))
    },
  },
  {
    name: 'webhooks',
    about: 'deliveries over TLS, and one dead receiver among many',
    async run(bench) {
      const { benchWebhooks } = await import('./webhooks.ts')
      const isFull = !bench.isShort
      return bench.onLoaded(({ title, location }, corpus) => benchWebhooks(title, location, corpus, { isFull }))
    },
  },
  {
    name: 'search',
    about: 'how often the right skill comes first, compared with MiniSearch and FTS5',
    async run(bench) {
      const { run } = await import('./search.ts')
      const { engines, readEngineOf } = await import('./search-engines.ts')
      const { openDatabaseEngine } = await import('./database-engine.ts')
      const { against } = bench.options
      const corpus = await bench.corpus()
      const isFull = !bench.isShort
      const others = against === undefined ? [] : [await readEngineOf(against)]
      const figures = await run(corpus, { engines: [...engines, ...others], isFull })
      const inDatabases = await bench.onEmpty(({ title, location }) => {
        const create = () => openDatabaseEngine(location)
        const name = `Skillstead, database index (${title})`
        return run(corpus, { engines: [{ name, isTimedOnce: true, create }], isFull: false })
      })
      return [...figures, ...inDatabases]
    },
  },
  {
    name: 'copies',
    about: 'labelled pairs of copies, and the check at publish with many versions',
    async run(bench) {
      const { benchPairs } = await import('./copies.ts')
      const { benchScale } = await import('./copies-scale.ts')
      const corpus = await bench.corpus()
      const versions = bench.at(2000, 100_000)
      const pairs = await bench.onEmpty(({ title, location }) => benchPairs(title, location, corpus))
      return [
        ...pairs,
        ...(await bench.onEmpty(({ title, location }) => benchScale(title, location, corpus, versions))),
      ]
    },
  },
  {
    name: 'log',
    about: 'the transparency log: appends and proofs',
    async run(bench) {
      const { benchLogs } = await import('./log.ts')
      return benchLogs(bench.options, bench.at(20_000, 1_000_000))
    },
  },
  {
    name: 'client',
    about: 'loading a skill with the client',
    async run() {
      const { benchClient } = await import('./client.ts')
      return benchClient()
    },
  },
  {
    name: 'loading',
    about: 'cutting documents to a budget of tokens',
    async run({ options }) {
      const { benchLoading } = await import('./loading.ts')
      return benchLoading(options.corpus, options.every)
    },
  },
  {
    name: 'gateways',
    about: 'clones with git, compared with git http-backend',
    async run(bench) {
      const { benchGateways } = await import('./gateways.ts')
      return benchGateways({ folder: bench.newFolder('gateways'), isShort: bench.isShort })
    },
  },
  {
    name: 'blocked',
    about: 'for how long the worst requests block the event loop; fails above 100 ms',
    async run(bench) {
      const { benchBlocked } = await import('./blocked.ts')
      return benchBlocked(bench.newFolder('blocked'), bench.options.only)
    },
  },
  {
    name: 'mirror',
    about: 'following a node, and bundles',
    async run(bench) {
      const { benchMirror } = await import('./mirror.ts')
      const { skills = bench.at(200, undefined), tenfold } = bench.options
      return benchMirror(await bench.corpus(), { ...(skills !== undefined && { skills }), tenfold })
    },
  },
  {
    name: 'dashboard',
    about: 'how soon its pages are painted in Chromium',
    async run(bench) {
      const { benchDashboard } = await import('./dashboard.ts')
      const folder = bench.newFolder('dashboard')
      const skills = bench.options.skills ?? bench.at(...manySkills)
      await makeCatalogue(folder, { count: skills })
      const figures = await benchDashboard({ path: join(folder, 'skillstead.db') }, skills)
      rmSync(folder, { recursive: true })
      return figures
    },
  },
  {
    name: 'lighthouse',
    about: 'scores of the pages in Lighthouse, which npx downloads, on a desktop and a phone; --only PAGE',
    async run({ isShort, options: { only } }) {
      const { benchLighthouse } = await import('./lighthouse.ts')
      return benchLighthouse({ turns: isShort ? 1 : 3, folder: '.lighthouse', ...(only !== undefined && { only }) })
    },
  },
  {
    name: 'scale',
    about: 'a node on PostgreSQL with a million skills, or --skills N; takes about an hour',
    async run(bench) {
      const { benchScale } = await import('./scale.ts')
      return benchScale(bench.options.skills ?? 1_000_000)
    },
  },
  {
    name: 'scan',
    about: 'how often the scanner is right; needs --security FILE with labelled skills, or --honest DIR with code',
    async run(bench) {
      const { options } = bench
      if (options.honest) {
        const { benchHonest } = await import('./scan-honest.ts')
        benchHonest(options.honest)
      }
      if (options.speed) {
        const { benchScanSpeed } = await import('./scan-speed.ts')
        await benchScanSpeed(await bench.corpus())
      }
      if (options.security === undefined) {
        if (options.honest || options.speed) return []
        throw new Error('Pass labelled skills: pnpm bench scan --security FILE.')
      }
      if (options.cloaks) {
        const { benchCloaks } = await import('./scan-cloak.ts')
        benchCloaks(options.security)
        return []
      }
      const { benchAblation, benchScan } = await import('./scan.ts')
      if (options.ablation) benchAblation(options.security, options.corpus)
      else await benchScan(options.security, options.corpus)
      return []
    },
  },
]

function toImportFigure({ versions, seconds }: Imported): Figure {
  const note = `${versions.toLocaleString('en')} versions in ${Math.round(seconds)} s`
  return {
    part: 'skillstead import, SQLite',
    name: 'a whole catalogue',
    value: versions / seconds,
    unit: 'versions/s',
    note,
  }
}

function readQueryKinds(corpus: string): QueryKind[] {
  const needs = join(corpus, 'tasks-open.ndjson')
  const lines = existsSync(needs) ? readLines(needs) : []
  const kinds = [
    { name: 'a search', queries: readQueries(corpus), medianMost: 2, p99Most: 12 },
    { name: 'a short need', queries: lines.map(({ short }) => short!), medianMost: 2, p99Most: 12 },
    { name: 'a need of a task', queries: lines.map(({ task }) => task!), medianMost: 4, p99Most: 30 },
  ]
  return kinds.filter(({ queries }) => queries.length > 0)
}

function readQueries(corpus: string): string[] {
  // As people type: one in four has a letter wrong.
  return readLines(join(corpus, 'queries-open.ndjson')).map((line, i) => line[i % 4 === 3 ? 'typoQuery' : 'query']!)
}

function readLines(path: string): Record<string, string>[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Record<string, string>)
}
