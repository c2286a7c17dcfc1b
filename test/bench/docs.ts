import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { measureChart, toChart } from './chart.ts'
import { holds, show, toTarget, type Figure } from './figures.ts'

/** What a part of the benchmark measured, and how: the table and the chart are made of it and of nothing else. */
export interface Measured {
  /** The name of the part: `http`. */
  readonly name: string
  readonly figures: readonly Figure[]
  readonly date: string
  /** The revision that was measured. */
  readonly commit: string
  readonly machine: string
  readonly command: string
  /** Requests a second of a bare `node:http` server before and after the part. */
  readonly barePerSecond: readonly [before: number, after: number]
}

/** A row of docs/figures.md. */
interface Row {
  /** What was done; `%` is the number of skills or entries in the part of the figure. */
  readonly title: string
  /** The part of `bench` that measures it, by its name. */
  readonly by: string
  /** How the part of the figures begins, and their names. */
  readonly part: string
  readonly names: readonly string[]
  /** What is wanted, if no figure says it: because it was not measured, or is measured in another way. */
  readonly wanted?: string
  /** Whether the note of the figure is shown. */
  readonly hasNote?: true
}

const sqlite = { by: 'http', part: 'Over HTTP, SQLite' }
const postgres = { by: 'http', part: 'Over HTTP, PostgreSQL' }
const cluster = { by: 'cluster', part: 'Nodes on one PostgreSQL' }
const searches = { by: 'searches', part: 'Search with' }
const mirror = { by: 'mirror', part: 'A mirror of a node with' }
const binary = { by: 'binary', part: 'The single file' }
const cached = 'GET /skills/<name>, cached'
const built = 'GET /skills/<name>, not cached'
const found = 'GET /skills?q=, not cached'
const toBoth = (name: string) => [`${name}, median`, `${name}, 99th percentile`]

/** What a person who chooses or runs a registry wants to know; a part prints more. */
const rows: readonly Row[] = [
  { title: 'details of a skill, cached', ...sqlite, names: [cached] },
  { title: 'details of a skill, not cached', ...sqlite, names: [built] },
  { title: 'search / its p99 at 32 connections', ...sqlite, names: [found, `${found}, 99th percentile`] },
  { title: 'PostgreSQL: details, cached', ...postgres, names: [cached], wanted: '≥ 0.6 × bare node:http' },
  { title: 'PostgreSQL: details, not cached', ...postgres, names: [built], wanted: '≥ 0.24 × bare node:http' },
  { title: 'PostgreSQL: search', ...postgres, names: [found], wanted: '≥ 0.04 × bare node:http' },
  {
    title: 'PostgreSQL: details, cached, on 2 / 3 nodes',
    ...cluster,
    names: [`${cached}, 2 nodes`, `${cached}, 3 nodes`],
  },
  { title: 'publish: scan, copies, log', ...sqlite, names: ['PUT /skills with scan, copy check and log'] },
  { title: 'PostgreSQL: publish', ...cluster, names: ['PUT /skills'] },
  { title: 'PostgreSQL: `POST /track` on 3 nodes', ...cluster, names: ['POST /track, 3 nodes'] },
  { title: 'PostgreSQL: database, each skill', ...cluster, names: ['database, a skill'] },
  {
    title: 'import of a catalogue',
    by: 'searches',
    part: 'skillstead import, SQLite',
    names: ['a whole catalogue'],
    hasNote: true,
    wanted: '2 × commit 98873b4a in the same hour',
  },
  { title: '% skills and 20 publishes/s: search by name, median / p99', ...searches, names: toBoth('a search') },
  {
    title: 'the same by a short need (`--corpus DIR`)',
    ...searches,
    names: toBoth('a short need'),
    wanted: '≤ 2 ms / ≤ 12 ms',
  },
  {
    title: 'the same by a described task (`--corpus DIR`)',
    ...searches,
    names: toBoth('a need of a task'),
    wanted: '≤ 4 ms / ≤ 30 ms',
  },
  {
    title: 'event loop blocked during searches by name',
    ...searches,
    names: ['event loop blocked alongside a search, at most'],
  },
  { title: 'memory of a node with % skills', ...searches, names: ['resident memory'] },
  { title: 'memory of a node after these reads', ...sqlite, names: ['resident memory after the reads'] },
  { title: 'start to first answer', ...sqlite, names: ['start to first answer'] },
  { title: 'PostgreSQL: start to first answer', ...postgres, names: ['start to first answer'], wanted: '≤ 700 ms' },
  {
    title: 'single file: start to first answer, without / with 50,000 skills',
    ...binary,
    names: ['first answer, an empty catalogue', 'first answer, a whole catalogue'],
  },
  { title: 'single file: download', ...binary, names: ['compressed'] },
  {
    title: 'first sync of a mirror, 400 skills',
    by: 'mirror',
    part: 'A mirror of a node with 400 skills',
    names: ['full sync'],
    wanted: '≤ 4 s',
  },
  { title: 'first sync of a mirror, % skills', ...mirror, names: ['full sync'] },
  { title: 'memory of that sync', ...mirror, names: ['full sync, memory at most'], hasNote: true },
  { title: 'event loop blocked during that sync', ...mirror, names: ['full sync, event loop blocked'] },
  { title: 'sync without news', ...mirror, names: ['nothing new'] },
  { title: 'import of a bundle', ...mirror, names: ['bundle import'] },
  {
    title: 'log of % entries: append / inclusion proof',
    by: 'log',
    part: 'The log with',
    names: ['append', 'inclusion proof, not cached'],
  },
  {
    title: 'client: a skill of 6 kB from memory / over loopback',
    by: 'client',
    part: 'Loading with the client',
    names: ['6 kB from memory', '6 kB over loopback'],
  },
  {
    title: 'dashboard: home page / a skill painted, cold',
    by: 'dashboard',
    part: 'The dashboard of a node with',
    names: ['the home page: first contentful paint', 'a skill: first contentful paint'],
  },
]

/** The parts of `bench` that the page shows. */
export const shownParts: ReadonlySet<string> = new Set(rows.map(({ by }) => by))

const begin = '<!-- begin of what `bench --write` writes -->'
const end = '<!-- end of what `bench --write` writes -->'

/** Writes a part into `figures.ndjson`, in place of what it had of it, and from it `figures.md` and `figures.svg`. */
export function writeDocs(measured: Measured, folder: string): void {
  const file = join(folder, 'figures.ndjson')
  const stored = existsSync(file) ? readMeasured(file) : []
  const all = [...shownParts].flatMap((name) => [measured, ...stored].find((part) => part.name === name) ?? [])
  const lines = all.flatMap(({ figures, ...part }) => [part, ...figures])
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  writeFileSync(join(folder, 'figures.svg'), toChart(selectFigures(all)))
  const page = join(folder, 'figures.md')
  writeFileSync(page, replaceSection(readFileSync(page, 'utf8'), toSection(all)))
}

/** What was measured, as a file keeps it: a line about each part, and then a line for each of its figures. */
export function readMeasured(file: string): Measured[] {
  const measured: (Omit<Measured, 'figures'> & { figures: Figure[] })[] = []
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const read = JSON.parse(line) as Omit<Measured, 'figures'> | Figure
    if ('commit' in read) measured.push({ ...read, figures: [] })
    else measured.at(-1)!.figures.push(read)
  }
  return measured
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
export function selectFigures(parts: readonly Pick<Measured, 'figures'>[]): Figure[] {
  const figures = parts.flatMap((part) => part.figures)
  return rows.flatMap((row) => findFigures(figures, row))
}

function findFigures(figures: readonly Figure[], { part, names }: Row): Figure[] {
  return names.flatMap((name) => figures.find((figure) => figure.part.startsWith(part) && figure.name === name) ?? [])
}

/** The chart, the table, the other targets that were missed, and how each part was measured. */
export function toSection(parts: readonly Measured[]): string {
  const figures = parts.flatMap((part) => part.figures)
  const shown = selectFigures(parts)
  const { width, height } = measureChart(shown)
  const missed = figures.filter((figure) => holds(figure) === false && !shown.includes(figure))
  const others = missed.map(
    (figure) => `- ${figure.part}, ${figure.name}: ${toResult(figure)}, wanted ${toTarget(figure)}`,
  )
  return [
    `<img src="figures.svg" width="${width}" height="${height}" alt="Requests a second, compared with other programs">`,
    '',
    '| what | figure | wanted | |',
    '|---|---|---|---|',
    ...rows.map((row) => toLine(row, findFigures(figures, row))),
    ...toList('Other targets that were missed:', others),
    ...toList(
      'How each part was measured, with the requests/s of a bare `node:http` server before and after it:',
      parts.map(toOrigin),
    ),
  ].join('\n')
}

function toOrigin({ name, date, commit, machine, command, barePerSecond }: Measured): string {
  const [before, after] = barePerSecond.map((value) => value.toLocaleString('en'))
  return `- ${name}: on ${date} at commit ${commit} by \`${command}\`; ${machine}; ${before} and ${after}`
}

function toList(title: string, items: readonly string[]): string[] {
  return items.length > 0 ? ['', title, '', ...items] : []
}

function toLine({ title, names, wanted = '', hasNote }: Row, figures: readonly Figure[]): string {
  const count = figures[0] && /[\d,]{2,}/.exec(figures[0].part)?.[0]
  const notes = hasNote ? figures.flatMap(({ note }) => (note === undefined ? [] : `; ${note}`)) : []
  const cells =
    figures.length < names.length
      ? ['', wanted, 'not measured']
      : [figures.map(toResult).join(' / ') + notes.join(''), toTargets(figures) || wanted, toVerdict(figures, wanted)]
  const all = [title.replace('%', count ?? 'many'), ...cells]
  return `| ${all.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

function toTargets(figures: readonly Figure[]): string {
  const all = figures.map(toTarget)
  return all.some((target) => target !== '') ? all.join(' / ') : ''
}

/** A value with its ratios to other programs. */
function toResult({ value, unit, compared = [] }: Figure): string {
  const ratios = compared.map((other) => `, ${show(other.ratio)} × ${other.with}`)
  return `${show(value)} ${unit}`.trim() + ratios.join('')
}

/** Of each figure, or once if all are alike. */
function toVerdict(figures: readonly Figure[], wanted: string): string {
  const words = figures.map((figure) => {
    const isReached = holds(figure)
    if (isReached === undefined) return wanted && 'not compared'
    return isReached ? 'reached' : '**missed**'
  })
  return (new Set(words).size > 1 ? words : words.slice(0, 1)).join(' / ')
}
