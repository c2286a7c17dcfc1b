import { existsSync, mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Bench, type BenchOptions, type Scale } from './bench.ts'
import { keepCatalogues } from './catalogue.ts'
import { endProcesses } from './children.ts'
import { readMeasured, writeDocs } from './docs.ts'
import type { Figure } from './figures.ts'
import { findRefusal, measureMachine, type MachineSpeed } from './machine-speed.ts'
import { parts, type Part } from './parts.ts'
import { enterRunFolder } from '../support/run-folder.ts'

const { values, positionals } = parseArgs({
  options: {
    corpus: { type: 'string' },
    security: { type: 'string' },
    against: { type: 'string' },
    only: { type: 'string' },
    ablation: { type: 'boolean' },
    honest: { type: 'string', multiple: true },
    cloaks: { type: 'boolean', default: false },
    speed: { type: 'boolean', default: false },
    sqlite: { type: 'boolean' },
    postgres: { type: 'boolean' },
    every: { type: 'string', default: '1' },
    skills: { type: 'string' },
    tenfold: { type: 'boolean', default: false },
    short: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    keep: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
})

const usage = `pnpm bench [PART...] [options]

Without a part everything is measured, at a size that takes some twenty minutes on two cores, on SQLite; a part that is
named is measured at the size that it was made for, on both databases.

${parts.map(({ name, about }) => `  ${name.padEnd(10)} ${about}`).join('\n')}

  --short           much less of everything: a few minutes
  --write           put the table and the chart into docs/, unless this machine is half as fast as the best before
  --corpus DIR      real skills (open.ndjson.gz, queries-open.ndjson) in place of those that are made up
  --sqlite, --postgres   only that database
  --keep DIR        keep catalogues there for the next run
  --skills N        searches, memory, mirror, dashboard: so many skills
  --tenfold         mirror: ten times as many skills too
  --against REV     profile, search: also that revision of this repository, in alternating turns
  --only TEXT       profile, lighthouse: works or pages whose names contain it: --only GET
  --every N         loading: every so-manyth document of the corpus
  --security FILE   scan: labelled skills
  --ablation        scan: what each rule adds, in place of the totals
  --honest DIR      scan: code of packages that many people use, such as node_modules; may be repeated
  --cloaks          scan: the labelled skills in each disguise of test/cloak, in place of the totals
  --speed           scan: the time of one SKILL.md and of a first scan; with --corpus on real skills`

/** In a run of everything one that hangs must not keep the others from their turn. */
const partMinutesMax = 10
// Else nothing is tidied up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

const isEverything = positionals.length === 0 && values.security === undefined
const chosen = choose()
await enterRunFolder()
const bench = new Bench(toOptions())
keepCatalogues(values.keep ?? join(bench.scratch, 'catalogues'))
mkdirSync(values.keep ?? join(bench.scratch, 'catalogues'), { recursive: true })

const file = join(docsFolder(), 'figures.ndjson')
const bareBest = existsSync(file) ? readMeasured(file).bareBest : undefined
const before = values.write ? await requireSpeed() : undefined
const startedMs = performance.now()
const figures: Figure[] = []
const skipped: string[] = []
for (const part of chosen) await measure(part)
const minutes = Math.round((performance.now() - startedMs) / 60_000)
console.log(`\nThat took ${minutes} minutes.`)
const machine = `${cpus().length} cores, Node ${process.version.slice(1)}`
const command = ['npx --yes pnpm@12 bench', ...process.argv.slice(2).filter((word) => word !== '--write')].join(' ')
const measured = {
  figures,
  skipped,
  parts: chosen.map(({ name }) => name),
  machine,
  minutes,
  command,
  isWhole: isEverything,
}
if (before) {
  const after = await measureMachine()
  const best = Math.max(before.barePerSecond, after.barePerSecond)
  const refusal = findRefusal(after, bareBest)
  const load = [before.load, after.load] as const
  writeDocs({ ...measured, bareBest: best, load }, refusal === undefined ? docsFolder() : undefined)
  if (refusal !== undefined) refuse(refusal, 1)
} else writeDocs(measured, undefined)
process.exit(isEverything || skipped.length === 0 ? 0 : 1)

/** Ends the run at once on a machine that is too slow for figures, before the minutes that measuring takes. */
async function requireSpeed(): Promise<MachineSpeed> {
  const speed = await measureMachine()
  const refusal = findRefusal(speed, bareBest)
  return refusal === undefined ? speed : refuse(refusal, 1)
}

/** What cannot be measured here is said, and the rest goes on. */
async function measure({ name, run }: Part): Promise<void> {
  const partMs = performance.now()
  console.log(`\n# ${name}`)
  const done = new AbortController()
  try {
    figures.push(...(await Promise.race([run(bench), giveUp(done.signal)])))
  } catch (error) {
    console.error(isEverything ? (error as Error).message : error)
    skipped.push(`${name}: ${(error as Error).message}`)
  } finally {
    done.abort()
    endProcesses()
  }
  console.log(`(${name}: ${Math.round((performance.now() - partMs) / 1000)} s)`)
}

async function giveUp(signal: AbortSignal): Promise<never> {
  if (!isEverything) return new Promise(() => {})
  await setTimeout(partMinutesMax * 60_000, undefined, { signal })
  throw new Error(`It did not end within ${partMinutesMax} minutes.`)
}

function choose(): readonly Part[] {
  if (values.help) refuse(usage, 0)
  const unknown = positionals.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0) refuse(`There is no part ${unknown.join(', ')}.\n\n${usage}`, 2)
  if (positionals.length === 0 && values.security !== undefined) return parts.filter(({ name }) => name === 'scan')
  return parts.filter(({ name, isApart }) => (isEverything ? !isApart : positionals.includes(name)))
}

function toOptions(): BenchOptions {
  const { corpus, security, against, only, ablation, honest, cloaks, speed, tenfold } = values
  const scale: Scale = values.short ? 'short' : isEverything ? 'medium' : 'full'
  const isEither = values.sqlite || values.postgres
  return {
    scale,
    tenfold,
    cloaks,
    speed,
    every: toCount('every', values.every),
    ...(corpus !== undefined && { corpus }),
    ...(security !== undefined && { security }),
    ...(against !== undefined && { against }),
    ...(only !== undefined && { only }),
    ...(ablation && { ablation }),
    ...(honest && { honest }),
    ...(values.skills !== undefined && { skills: toCount('skills', values.skills) }),
    sqlite: isEither ? values.sqlite === true : true,
    postgres: isEither ? values.postgres === true : !isEverything && !values.short,
  }
}

function toCount(option: string, text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text)
  return refuse(`--${option} takes a whole number from 1: --${option} 50.`, 2)
}

function refuse(sentence: string, code: number): never {
  if (code === 0) console.log(sentence)
  else console.error(sentence)
  process.exit(code)
}

function docsFolder(): string {
  return fileURLToPath(new URL('../../docs/', import.meta.url))
}
