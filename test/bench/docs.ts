import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toChart } from './chart.ts'
import { holds, show, toTarget, type Figure } from './figures.ts'

/** What a run measured, and how: the table, the chart and the sentences are made of it and of nothing else. */
export interface Measured {
  readonly figures: readonly Figure[]
  /** What could not be measured, and why. */
  readonly skipped: readonly string[]
  /** What was asked for, by its names. */
  readonly parts?: readonly string[]
  readonly machine: string
  readonly minutes: number
  readonly command: string
  /** The most requests a second of a bare `node:http` server while figures were written. */
  readonly bareBest?: number
  /** The load average before and after the last run. */
  readonly load?: readonly [before: number, after: number]
  /** Of everything: it takes the place of what was measured before. */
  readonly isWhole: boolean
}

const begin = '<!-- begin of what `bench --write` writes -->'
const end = '<!-- end of what `bench --write` writes -->'
const then = '`; then `'

/** Puts the figures into `figures.ndjson`, `figures.md` and `figures.svg` of a folder; prints the table where none is given. */
export function writeDocs(measured: Measured, folder: string | undefined): void {
  if (folder === undefined) return console.log(`\n${toTable(measured)}\n\n${toSentences(measured).join('\n')}`)
  const file = join(folder, 'figures.ndjson')
  const merged = existsSync(file) ? merge(readMeasured(file), measured) : measured
  const { figures, ...how } = merged
  writeFileSync(file, [how, ...figures].map((line) => `${JSON.stringify(line)}\n`).join(''))
  writeFileSync(join(folder, 'figures.svg'), toChart(merged.figures))
  const page = join(folder, 'figures.md')
  writeFileSync(page, replaceSection(readFileSync(page, 'utf8'), toTable(merged)))
  console.log(`\nWritten into ${folder}. Sentences for the README:\n\n${toSentences(merged).join('\n')}`)
}

/** What was measured, as a file keeps it: a line about the run, and a line a figure. */
export function readMeasured(file: string): Measured {
  const [how, ...figures] = readFileSync(file, 'utf8').trim().split('\n')
  return {
    ...(JSON.parse(how!) as Omit<Measured, 'figures'>),
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

/** A run of some parts leaves the figures of the others as they are, and says so by its command. */
function merge(before: Measured, now: Measured): Measured {
  const parts = new Set(now.figures.map(({ part }) => part))
  const others = before.figures.filter(({ part }) => !parts.has(part))
  const bareBest = Math.max(before.bareBest ?? 0, now.bareBest ?? 0)
  const whole = bareBest === 0 ? now : { ...now, bareBest }
  if (now.isWhole || others.length === 0) return whole
  const isNow = (reason: string) => now.parts?.some((name) => reason.startsWith(`${name}: `))
  const skipped = [...before.skipped.filter((reason) => !isNow(reason)), ...now.skipped]
  const commands = before.command.split(then).filter((command) => command !== now.command)
  return {
    ...whole,
    isWhole: before.isWhole,
    skipped,
    figures: [...others, ...now.figures],
    minutes: before.minutes + now.minutes,
    command: [...commands, now.command].join(then),
  }
}

/** The one table: ours, bare `node:http`, Verdaccio, and what was wanted. */
export function toTable({ figures, skipped, machine, minutes, command, load }: Measured): string {
  const parts = [...new Set(figures.map(({ part }) => part))]
  const rows = parts.flatMap((part) => [
    `| **${part}** | | | | | | |`,
    ...figures.filter((figure) => figure.part === part).map(toRow),
  ])
  const average = load && `; load average ${load[0]} before the last run, ${load[1]} after`
  return [
    `Measured by \`${command}\` in ${minutes} minutes: ${machine}${average ?? ''}.`,
    '',
    '| | Skillstead | bare `node:http` | ours to bare | Verdaccio | ours to Verdaccio | wanted |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    ...(skipped.length > 0 ? ['', 'Not measured:', '', ...skipped.map((reason) => `- ${reason}`)] : []),
  ].join('\n')
}

function toRow(figure: Figure): string {
  const { name, value, unit, bare, verdaccio, note } = figure
  const kept = holds(figure)
  const wanted = kept === undefined ? '' : `${toTarget(figure)}: ${kept ? 'holds' : '**missed**'}`
  const cells = [
    note === undefined ? name : `${name} (${note})`,
    `${show(value)} ${unit}`.trim(),
    ...[bare, verdaccio].flatMap((other) => (other ? [show(other.value), show(other.ratio)] : ['', ''])),
    wanted,
  ]
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
}

/** What is said of Skillstead in a few lines; the rest is for the person who opens the page. */
const toldParts = ['Over HTTP, SQLite', 'Search with', 'The single file', 'Nodes on one PostgreSQL']

/** What the README may say: each ratio as the table has it. */
export function toSentences({ figures: all, command }: Measured): string[] {
  const figures = all.filter(({ part }) => toldParts.some((told) => part.startsWith(told)))
  const compared = figures.flatMap(({ name, unit, bare, verdaccio }) => {
    if (!unit.endsWith('/s')) return []
    const ratios = [
      bare && `${show(bare.ratio)} of bare \`node:http\``,
      verdaccio && `${show(verdaccio.ratio)} times Verdaccio`,
    ].filter((ratio) => ratio !== undefined)
    return ratios.length === 0 ? [] : [`- ${name}: ${ratios.join(', ')}`]
  })
  const bounded = figures.flatMap((figure) => {
    const { name, value, unit, least, most } = figure
    if (least === undefined && most === undefined) return []
    return [
      `- ${name}: ${show(value)} ${unit}`.trimEnd() +
        ` (wanted ${toTarget({ ...figure, bare: undefined, verdaccio: undefined })})`,
    ]
  })
  return [...compared, ...bounded, `Measured by \`${command}\`.`]
}
