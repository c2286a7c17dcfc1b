import { readFileSync } from 'node:fs'
import { type Profile, toPlace } from './stages.ts'

const shown = 20
const barMax = 40
const loading = 'Node: find, read and compile modules'

/**
 * The files and libraries in which a profiled process spent the most time, with what Node and V8 did for them. Loading is
 * a row of its own: it would count for the file that imports.
 */
export function toModuleChart(file: string): string {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const modules = new Map(nodes.map(({ id, callFrame }) => [id, toModule(callFrame)]))
  const findModule = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const name = modules.get(at)!
      if (name.startsWith('node:internal/modules/')) return loading
      if (name !== '' && !/^(?:node|wasm):/.test(name)) return name
    }
    return modules.get(id) || 'V8'
  }
  const times = Map.groupBy(
    samples.map((id, i) => ({ name: findModule(id), us: timeDeltas[i]! })),
    ({ name }) => name,
  )
  const rows = [...times].map(([name, all]) => ({ name, ms: all.reduce((sum, { us }) => sum + us, 0) / 1000 }))
  const top = rows
    .filter(({ name }) => name !== '(idle)')
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, shown)
  const toBar = (ms: number) => '█'.repeat(Math.ceil((ms / top[0]!.ms) * barMax))
  return top.map(({ name, ms }) => `${name.padEnd(50)} ${ms.toFixed(1).padStart(7)} ${toBar(ms)}`).join('\n')
}

/** A library as a whole, because it has many files. */
function toModule({ url, functionName }: Profile['nodes'][number]['callFrame']): string {
  if (functionName === '(idle)' || functionName === '(garbage collector)') return functionName
  return toPlace(url).replace(/^(node_modules\/(?:@[^/]+\/)?[^/]+).*/, '$1')
}
