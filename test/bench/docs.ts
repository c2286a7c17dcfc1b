import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureChart, toChart } from './chart.ts'
import { holds, show, toRemarks, toTarget, type Figure } from './figures.ts'

/** What a run measured, and how: the table and the chart are made of it and of nothing else. */
export interface Measured {
  readonly figures: readonly Figure[]
  /** What could not be measured, and why. */
  readonly skipped: readonly string[]
  readonly date: string
  readonly machine: string
  readonly minutes: number
  readonly command: string
  /** Requests a second of a bare `node:http` server before and after the run. */
  readonly barePerSecond: readonly [before: number, after: number]
}

/** Rows of docs/figures.md. */
interface Subject {
  /** The part of `bench` that measures them, by its name. */
  readonly by: string
  /** How the part of the figures begins. */
  readonly part: string
  /** The names of the figures. */
  readonly rows: readonly string[]
}

/** What a person who chooses or runs a registry wants to know; a part prints more. */
const subjects: readonly Subject[] = [
  {
    by: 'http',
    part: 'Over HTTP, SQLite',
    rows: [
      'GET /skills/<name>, cached',
      'GET /skills/<name>, not cached',
      'GET /skills?q=, not cached',
      'PUT /skills with scan, copy check and log',
      'start to first answer',
      'resident memory after the reads',
    ],
  },
  {
    by: 'searches',
    part: 'Search with',
    rows: [
      'a search, median',
      'a search, 99th percentile',
      'a publish alongside a search, 99th percentile',
      'event loop blocked alongside a search, at most',
      'resident memory',
    ],
  },
  {
    by: 'searches',
    part: 'In-process search with',
    rows: ['a search, median', 'resident memory'],
  },
  { by: 'searches', part: 'skillstead import, SQLite', rows: ['a whole catalogue'] },
  {
    by: 'cluster',
    part: 'Nodes on one PostgreSQL',
    rows: ['GET /skills/<name>, cached', 'GET /skills?q=', 'POST /track', 'PUT /skills', 'database, a skill'],
  },
  {
    by: 'client',
    part: 'Loading with the client',
    rows: ['6 kB from memory', '6 kB over loopback', '6 kB over loopback, renewed by ETag'],
  },
  {
    by: 'binary',
    part: 'The single file',
    rows: ['compressed', 'first answer, an empty catalogue', 'first answer, a whole catalogue'],
  },
  { by: 'mirror', part: 'A mirror of a node with', rows: ['full sync', 'nothing new'] },
  { by: 'log', part: 'The log with', rows: ['append', 'inclusion proof, not cached'] },
  {
    by: 'dashboard',
    part: 'The dashboard of a node with',
    rows: ['the home page: first contentful paint', 'a skill: first contentful paint'],
  },
]

/** The parts of `bench` that the page shows. */
export const shownParts: ReadonlySet<string> = new Set(subjects.map(({ by }) => by))

const begin = '<!-- begin of what `bench --write` writes -->'
const end = '<!-- end of what `bench --write` writes -->'

/** Writes a run into `figures.ndjson`, and from it `figures.md` and `figures.svg`. */
export function writeDocs(measured: Measured, folder: string): void {
  const { figures, ...run } = measured
  writeFileSync(join(folder, 'figures.ndjson'), [run, ...figures].map((line) => `${JSON.stringify(line)}\n`).join(''))
  writeFileSync(join(folder, 'figures.svg'), toChart(selectFigures(measured)))
  const page = join(folder, 'figures.md')
  writeFileSync(page, replaceSection(readFileSync(page, 'utf8'), toSection(measured)))
}

/** What was measured, as a file keeps it: a line about the run, and a line a figure. */
export function readMeasured(file: string): Measured {
  const [run, ...figures] = readFileSync(file, 'utf8').trim().split('\n')
  return {
    ...(JSON.parse(run!) as Omit<Measured, 'figures'>),
    figures: figures.map((line) => JSON.parse(line) as Figure),
  }
}

/** What `bench --write` wrote into a page. */
export function readSection(page: string): string {
  return page.slice(page.indexOf(begin) + begin.length, page.indexOf(end)).trim()
}

function replaceSection(page: string, section: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to === -1) throw new Error(`docs/figures.md has no lines ${begin} and ${end}.`)
  return `${page.slice(0, from + begin.length)}\n\n${section}\n\n${page.slice(to)}`
}

/** The figures that the page shows, in its order. */
export function selectFigures({ figures }: Pick<Measured, 'figures'>): Figure[] {
  return subjects.flatMap(({ part, rows }) => rows.flatMap((name) => findFigure(figures, part, name) ?? []))
}

function findFigure(figures: readonly Figure[], part: string, name: string): Figure | undefined {
  return figures.find((figure) => figure.part.startsWith(part) && figure.name === name)
}

/** How a run was made, its chart, and its table: ours, what it is compared with, and the targets. */
export function toSection(measured: Measured): string {
  const { figures, skipped, date, machine, minutes, command, barePerSecond } = measured
  const [before, after] = barePerSecond.map((value) => value.toLocaleString('en'))
  const { width, height } = measureChart(selectFigures(measured))
  const rows = subjects.flatMap(({ part, rows: names }) => {
    const title = figures.find((figure) => figure.part.startsWith(part))?.part ?? part
    return [`| **${title}** | | | |`, ...names.map((name) => toRow(name, findFigure(figures, part, name)))]
  })
  return [
    `Measured on ${date} by \`${command}\` in ${minutes} minutes:`,
    `${machine}; a bare \`node:http\` server answered ${before} requests/s before, ${after} after.`,
    '',
    `<img src="figures.svg" width="${width}" height="${height}" alt="Ratios to other programs, and how much of each target is used">`,
    '',
    '| | Skillstead | compared, and how | target |',
    '|---|---|---|---|',
    ...rows,
    ...(skipped.length > 0 ? ['', 'Not measured:', '', ...skipped.map((reason) => `- ${reason}`)] : []),
  ].join('\n')
}

function toRow(name: string, figure: Figure | undefined): string {
  const title = name.replace(/^[A-Z]+ \/[^ ,]+/, '`$&`')
  return `| ${[title, ...toCells(figure)].map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function toCells(figure: Figure | undefined): string[] {
  if (!figure) return ['not measured', '', '']
  const kept = holds(figure)
  const target = kept === undefined ? '' : `${toTarget(figure)}: ${kept ? 'holds' : '**missed**'}`
  return [`${show(figure.value)} ${figure.unit}`.trim(), toRemarks(figure), target]
}
