import { mkdirSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { Bench, type BenchOptions } from './bench.ts'
import { keepCatalogues } from './catalogue.ts'
import { endProcesses } from './children.ts'
import { shownParts, writeDocs, type Measured } from './docs.ts'
import { printFigures, type Figure } from './figures.ts'
import { changeMost, findChange, findOthers, measureBare, measureOthers, othersMost } from './machine-speed.ts'
import { parts, type Part } from './parts.ts'
import { readRevision } from './revision.ts'
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

Without PART, the parts marked * are measured, of which http on both databases and the others on SQLite, in half an hour on two
quiet cores: these are on docs/figures.md. A part that is named is measured on both databases, unless
it is written.

${parts.map(({ name, about }) => `  ${(shownParts.has(name) ? `${name} *` : name).padEnd(12)} ${about}`).join('\n')}

  --short           much less of everything: a few minutes
  --write           write the parts marked * into docs/figures.ndjson, and from it docs/figures.md and its chart. Measures nothing
                    while other programs use more than ${othersMost * 100} % of the processor; does not write a part if the speed of a
                    bare node:http server after it differs by more than ${changeMost * 100} % from that before it
  --corpus DIR      real skills (open.ndjson.gz, queries-open.ndjson, tasks-open.ndjson) in place of those that are made up
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

/** In a run of several parts one that hangs must not keep the others from their turn. */
const partMinutesMax = 15
// Else nothing is tidied up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130))

const isNamed = positionals.length > 0
const chosen = choose()
await enterRunFolder()
const bench = new Bench(toOptions())
keepCatalogues(values.keep ?? join(bench.scratch, 'catalogues'))
mkdirSync(values.keep ?? join(bench.scratch, 'catalogues'), { recursive: true })

const docs = fileURLToPath(new URL('../../docs/', import.meta.url))
if (values.write) await requireIdle()
/** Read before docs/ is written, which would make the revision a changed one. */
const commit = values.write ? readRevision() : ''
const startedMs = performance.now()
const skipped: string[] = []
for (const part of chosen) await (values.write ? measureAndWrite(part) : measure(part))
const minutes = Math.round((performance.now() - startedMs) / 60_000)
console.log(`\nThat took ${minutes} minutes.`)
for (const reason of skipped) console.error(reason)
process.exit((isNamed || values.write) && skipped.length > 0 ? 1 : 0)

/** Measures a part between two measurements of the machine, and writes it if the machine was as fast after it as before. */
async function measureAndWrite(part: Part): Promise<void> {
  const before = await measureBare()
  const figures = await measure(part)
  const after = await measureBare()
  const change = findChange(before, after)
  if (change !== undefined) skipped.push(`${part.name}: ${change}`)
  if (change !== undefined || figures === undefined) return
  const measured: Measured = {
    name: part.name,
    date: new Date().toISOString().slice(0, 10),
    commit,
    machine: `${cpus().length} cores, Node ${process.version.slice(1)}`,
    command: ['npx --yes pnpm@12 bench', ...process.argv.slice(2)].join(' ').replace(values.corpus ?? 'DIR', 'DIR'),
    barePerSecond: [before, after],
    figures,
  }
  writeDocs(measured, docs)
  console.log(`Written into ${docs}.`)
}

/** Ends the run at once if other programs are busy, before the minutes that measuring takes. */
async function requireIdle(): Promise<void> {
  const refusal = findOthers(await measureOthers())
  if (refusal !== undefined) refuse(refusal, 1)
}

/** Reports a part that fails; the others are measured all the same. */
async function measure({ name, run }: Part): Promise<readonly Figure[] | undefined> {
  const partMs = performance.now()
  console.log(`\n# ${name}`)
  const done = new AbortController()
  try {
    const measured = await Promise.race([run(bench), giveUp(done.signal)])
    printFigures(measured)
    return measured
  } catch (error) {
    console.error(isNamed ? error : (error as Error).message)
    skipped.push(`${name}: ${stripVTControlCharacters((error as Error).message).split('\n')[0]}`)
  } finally {
    done.abort()
    endProcesses()
    console.log(`(${name}: ${Math.round((performance.now() - partMs) / 1000)} s)`)
  }
  return undefined
}

async function giveUp(signal: AbortSignal): Promise<never> {
  if (isNamed) return new Promise(() => {})
  await setTimeout(partMinutesMax * 60_000, undefined, { signal })
  throw new Error(`It did not end within ${partMinutesMax} minutes.`)
}

function choose(): readonly Part[] {
  if (values.help) refuse(usage, 0)
  const unknown = positionals.filter((name) => !parts.some((part) => part.name === name))
  if (unknown.length > 0) refuse(`There is no part ${unknown.join(', ')}.\n\n${usage}`, 2)
  const hidden = positionals.filter((name) => !shownParts.has(name))
  if (values.write && (values.short || values.sqlite || values.postgres))
    refuse('--write takes none of --short, --sqlite and --postgres: the page shows whole parts.', 2)
  if (values.write && hidden.length > 0) refuse(`The page does not show ${hidden.join(', ')}.`, 2)
  return parts.filter(({ name }) => (isNamed ? positionals.includes(name) : shownParts.has(name)))
}

function toOptions(): BenchOptions {
  const { corpus, security, against, only, ablation, honest, cloaks, speed, tenfold } = values
  const isEither = values.sqlite || values.postgres
  return {
    isShort: values.short,
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
    postgres: isEither ? values.postgres === true : isNamed && !values.short && !values.write,
    isPage: !isEither && (!isNamed || values.write) && !values.short,
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
