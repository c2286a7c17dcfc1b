import { appendFileSync, writeFileSync } from 'node:fs'
import type { Reporter, TestModule } from 'vitest/node'
import { readProcessorSeconds, type Phase } from './phases.ts'

const columns: readonly Phase[] = ['place', 'open', 'listen', 'process', 'browser']
const file = '.test-profile.txt'

interface Row {
  readonly name: string
  readonly tests: number
  readonly figures: readonly number[]
}

/**
 * Writes what each test file costs, the most expensive first: processor seconds of the worker and of the processes that
 * it started, then seconds on the clock, of which imports, set-up by phase, and the rest (`assert`).
 */
export default class ProfileReporter implements Reporter {
  readonly #rows: Row[] = []

  onTestModuleEnd(module: TestModule): void {
    const { profile } = module.meta()
    if (!profile) return
    const { duration, collectDuration } = module.diagnostic()
    const phases = columns.map((phase) => profile.phases[phase] ?? 0)
    const clock = duration / 1000
    const rest = Math.max(0, clock - phases.reduce((sum, phase) => sum + phase, 0))
    const tests = [...module.children.allTests()].length
    const figures = [profile.own, profile.children, clock, collectDuration / 1000, ...phases, rest]
    this.#rows.push({ name: module.relativeModuleId, tests, figures })
    this.#write()
  }

  onTestRunEnd(): void {
    const { own, children } = readProcessorSeconds()
    appendFileSync(file, `The runner itself: ${own.toFixed(1)} s, and children that ended: ${children.toFixed(1)} s.\n`)
    console.log(`\nThe profile is in ${file}.`)
  }

  #write(): void {
    const head = ['own', 'children', 'clock', 'import', ...columns, 'assert', 'tests', 'file']
    const sum = head.slice(0, -2).map((_, i) => this.#rows.reduce((all, { figures }) => all + figures[i]!, 0))
    const total = { name: 'all files', tests: this.#rows.reduce((all, { tests }) => all + tests, 0), figures: sum }
    const sorted = this.#rows.toSorted((a, b) => cost(b) - cost(a))
    const titles = `${head.map((title) => title.padStart(9)).join('')}\n`
    writeFileSync(file, [titles, ...[total, ...sorted].map(toLine)].join(''))
  }
}

/** Processor seconds. */
function cost({ figures: [own = 0, children = 0] }: Row): number {
  return own + children
}

function toLine({ name, tests, figures }: Row): string {
  return `${figures.map((figure) => figure.toFixed(1).padStart(9)).join('')}${String(tests).padStart(9)}  ${name}\n`
}
