import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** A CPU profile in the form of the Chrome DevTools Protocol (`Profiler.Profile`), as far as it is read. */
export interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

/** What a stage of work consists of. */
interface Stage {
  /**
   * Beginnings of places: `core/log/` or `core/storage/blobs.ts` of the packages, `node_modules/yaml/`, `node:http`.
   * Of several that match, the longest decides.
   */
  readonly files: readonly string[]
  /** Functions of that name, in any place. */
  readonly functions?: readonly string[]
}

/**
 * The stages of work. A sample belongs to the innermost function that has a stage: so hashing by Node belongs to the
 * stage of its caller.
 */
export const stages = {
  'garbage collection': { files: [], functions: ['(garbage collector)'] },
  'load modules': { files: ['node:internal/modules/', 'node:internal/deps/amaro/', 'node:internal/vm'] },
  // The socket of PostgreSQL belongs to `SQL: build, send, read`.
  HTTP: {
    files: ['node:_http_', 'node:http', 'node:net', 'node:internal/http', 'node:internal/stream'],
  },
  'write to the socket': { files: ['node:internal/stream_base_commons'] },
  routing: {
    files: [
      'node_modules/h3/',
      'node_modules/rou3/',
      'node_modules/srvx/',
      'server/listening/',
      'server/node.ts',
      'server/mount-gateways.ts',
      'server/endpoints/routes.ts',
      'gateways/',
    ],
  },
  'admission, limits, metrics': {
    files: [
      'node_modules/prom-client/',
      'node_modules/rate-limiter-flexible/',
      'server/admission/',
      'server/context/',
      'core/accounts/',
      'core/visibility/',
    ],
  },
  parse: {
    files: [
      'node_modules/yaml/',
      'node_modules/valibot/',
      'protocol/',
      'skill-format/',
      'server/endpoints/input.ts',
      'server/endpoints/body.ts',
      'core/local-api.ts',
      'core/kernel/operation-input.ts',
      'core/catalogue/versions/skill-package.ts',
      'core/catalogue/versions/package-fields.ts',
    ],
  },
  'content: hash, compress': {
    files: ['core/storage/blobs.ts', 'core/storage/bucket/', 'skill-format/archives/digest.ts'],
  },
  scan: {
    files: [
      'scanner/',
      'core/catalogue/inspecting/',
      'core/catalogue/context/scan-policy.ts',
      'core/catalogue/context/scan-rules.ts',
      'core/catalogue/versions/inspection.ts',
    ],
  },
  copies: { files: ['core/catalogue/sketches/', 'core/catalogue/copies/', 'core/storage/shared-shingles.ts'] },
  log: { files: ['core/log/'] },
  search: {
    files: [
      'node_modules/minisearch/',
      'node_modules/stemmer/',
      'core/search/',
      'core/storage/text-search.ts',
      'core/catalogue/finding/',
    ],
  },
  answer: {
    files: [
      'server/',
      'core/kernel/encoded-json.ts',
      'core/kernel/response-cache.ts',
      'core/catalogue/publishing/publish-answer.ts',
      'core/catalogue/skills/read-skill.ts',
      'core/catalogue/skills/show-details.ts',
      'core/catalogue/skills/build-document.ts',
      'core/catalogue/versions/skill-document.ts',
    ],
  },
  'events and jobs': { files: ['core/webhooks/', 'core/outbox/'] },
  // Natives of better-sqlite3 have no file, so they belong to the function that times them.
  'SQL: run': { files: ['node_modules/better-sqlite3/'], functions: ['timedStatement'] },
  'SQL: build, send, read': {
    files: [
      'node_modules/kysely/',
      'node_modules/pg/',
      'node_modules/pg-pool/',
      'node_modules/pg-protocol/',
      'core/storage/',
    ],
  },
  'the profiler': { files: ['node:inspector'], functions: ['readThreadCpuMs'] },
  'the rest of the operation': { files: ['core/', 'core/storage/writer.ts'] },
} as const satisfies Readonly<Record<string, Stage>>

export type StageName = keyof typeof stages | 'other'

const names = Object.keys(stages) as (keyof typeof stages)[]
const stageOfFunction = new Map<string, StageName>(
  names.flatMap((name) => ((stages[name] as Stage).functions ?? []).map((one) => [one, name] as const)),
)
/** The longest first. */
const stageOfPlace = names
  .flatMap((name) => stages[name].files.map((begin): [string, StageName] => [begin, name]))
  .toSorted(([a], [b]) => b.length - a.length)

/** The thread was idle, or the profiler wrote its profile. */
const unmeasured: ReadonlySet<string> = new Set([' (idle)', 'node:inspector post'])

/** The share of the samples of each stage, largest first. */
export function readStages(file: string): { busyMs: number; shares: [stage: StageName, share: number][] } {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const frames = new Map(
    nodes.map(({ id, callFrame }) => [id, { place: toPlace(callFrame.url), name: callFrame.functionName }] as const),
  )
  const stageOf = new Map<number, StageName>()
  const findStage = (id: number): StageName => {
    const known = stageOf.get(id)
    if (known !== undefined) return known
    const { place, name } = frames.get(id)!
    const parent = parents.get(id)
    const found = stageOfFunction.get(name) ?? stageOfPlace.find(([begin]) => place.startsWith(begin))?.[1]
    const isOuters = found === undefined || place.startsWith('node:')
    const outer = isOuters && parent !== undefined ? findStage(parent) : undefined
    const stage = outer === 'SQL: build, send, read' ? outer : (found ?? outer ?? 'other')
    stageOf.set(id, stage)
    return stage
  }
  const microseconds = new Map<StageName, number>()
  let busy = 0
  samples.forEach((id, i) => {
    const { place, name } = frames.get(id)!
    if (unmeasured.has(`${place} ${name}`)) return
    busy += timeDeltas[i]!
    const stage = findStage(id)
    microseconds.set(stage, (microseconds.get(stage) ?? 0) + timeDeltas[i]!)
  })
  const shares = [...microseconds].map(([stage, time]): [StageName, number] => [stage, time / busy])
  return { busyMs: busy / 1000, shares: shares.toSorted((a, b) => b[1] - a[1]) }
}

/** `core/log/merkle.ts` for a file of a package, `node_modules/yaml/...` for one of a library, or a module of Node. */
export function toPlace(url: string): string {
  if (!url.startsWith('file:')) return url
  const path = fileURLToPath(url)
  const library = path.lastIndexOf('/node_modules/')
  if (library !== -1) return path.slice(library + 1)
  return path.split('/packages/').at(-1)!.replace('/src/', '/')
}
