import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A CPU profile in the form of the Chrome DevTools Protocol (`Profiler.Profile`), as far as it is read. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

export const sqlStage = 'SQL'

/**
 * The stages of work, each by the functions that belong to it, as `file function`: a file of a package is
 * `core/log/merkle.ts`, one of a library its name. A sample belongs to the innermost function that has a stage.
 */
const stages: readonly (readonly [stage: string, functions: RegExp])[] = [
  ['garbage collector', /^ \(garbage collector\)$/],
  ['write to the socket', /^ (?:writeLatin1String|writeUtf8String|writeBuffer|writev)$/],
  [sqlStage, /^kysely |^(?:better-sqlite3|pg|pg-pool|pg-protocol) |^core\/storage\/(?!blobs|writer)| timedStatement$/],
  [
    'load modules',
    /^node:internal\/(?:modules|deps\/(?:cjs|amaro|minimatch))|^node:module |^ compile|^node:internal\/vm/,
  ],
  ['HTTP of Node', /^node:(?:_http|http|net|_stream|internal\/(?:http|streams?|stream_base))/],
  ['routing and Request', /^(?:h3|rou3|srvx|listhen) |^server\/(?:node-listener|routes)/],
  [
    'admission, limits, metrics',
    /^(?:prom-client|rate-limiter-flexible) |^server\/(?:gate|quotas|metrics|call|addresses|cross)/,
  ],
  [
    'parse',
    /^(?:yaml|fflate|skill-format|valibot) |^skill-format\/|^server\/(?:input|body)|^core\/catalogue\/(?:skill-pack|package-f)/,
  ],
  [
    'content: hash, compress',
    /^core\/storage\/blobs|^ (?:deflate|hash|update|digest|processChunkSync)|^node:(?:zlib|internal\/crypto)/,
  ],
  ['scan', /^scanner\/|^core\/catalogue\/(?:inspect|metadata-scan|scan-policy)/],
  ['sketch and copies', /^core\/catalogue\/(?:copy|find-copies|sketch|shingles|similarity)/],
  ['log', /^core\/log\//],
  ['search', /^(?:minisearch|stemmer) |^core\/search\/|^core\/catalogue\/(?:search|skill-search|explain)/],
  [
    'answer',
    /^server\/|^core\/catalogue\/(?:publish-answer|skill-document|show|read-skill)|^core\/(?:local-api|kernel)/,
  ],
  ['the rest of the operation', /^core\//],
]

/** The thread was idle, or the profiler itself ran. */
const unmeasured: ReadonlySet<string> = new Set([' (idle)', 'node:inspector post'])

/** The share of the samples of each stage, largest first. */
export function readStages(file: string): { busyMs: number; shares: [stage: string, share: number][] } {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const names = new Map(nodes.map(({ id, callFrame }) => [id, `${toPlace(callFrame.url)} ${callFrame.functionName}`]))
  const stageOf = new Map<number, string>()
  const findStage = (id: number): string => {
    let stage = stageOf.get(id)
    if (stage === undefined) {
      const found = stages.find(([, functions]) => functions.test(names.get(id)!))
      const parent = parents.get(id)
      stage = found?.[0] ?? (parent === undefined ? 'other' : findStage(parent))
      stageOf.set(id, stage)
    }
    return stage
  }
  const microseconds = new Map<string, number>()
  let busy = 0
  samples.forEach((id, i) => {
    if (unmeasured.has(names.get(id)!)) return
    busy += timeDeltas[i]!
    const stage = findStage(id)
    microseconds.set(stage, (microseconds.get(stage) ?? 0) + timeDeltas[i]!)
  })
  const shares = [...microseconds].map(([stage, time]): [string, number] => [stage, time / busy])
  return { busyMs: busy / 1000, shares: shares.toSorted((a, b) => b[1] - a[1]) }
}

/** `core/log/merkle.ts` for a file of a package, the name of a library, or the name of a module of Node. */
function toPlace(url: string): string {
  if (!url.startsWith('file:')) return url
  const path = fileURLToPath(url)
  const library = path.split('/node_modules/').slice(1).at(-1)
  if (library !== undefined) return /^(?:@[^/]+\/)?[^/]+/.exec(library)![0]
  return path.split('/packages/').at(-1)!.replace('/src/', '/')
}
