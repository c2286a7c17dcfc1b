/** One figure: a row of the table, a bar of the chart where it is compared, and what the README may quote. */
export interface Figure {
  /** What it belongs to, which is a section of the table: `Over HTTP`. */
  readonly part: string
  /** What was done: `GET /skills/<name>, cached`. */
  readonly name: string
  readonly value: number
  /** `requests/s`, `ms`, `MiB`; empty for a share or a count. */
  readonly unit: string
  /** Bounds of `value` that an issue gives. */
  readonly least?: number
  readonly most?: number
  /** The same done by a bare `node:http` server that answers as many bytes, in the same turns. */
  readonly bare?: Comparison
  /** The same done by Verdaccio with as many packages, in the same turns. */
  readonly verdaccio?: Comparison
  /** What a reader has to know of it: `100 requests/s alongside 20 publishes/s`. */
  readonly note?: string
}

/** The result of another program, and ours divided by it: the median over the turns. */
interface Comparison {
  readonly value: number
  readonly ratio: number
  /** The least that the ratio is to be. */
  readonly least?: number
}

/** Whether a figure keeps its bounds; undefined where it has none. */
export function holds({ value, least, most, bare, verdaccio }: Figure): boolean | undefined {
  const bounds = [
    least !== undefined && value >= least,
    most !== undefined && value <= most,
    bare?.least !== undefined && bare.ratio >= bare.least,
    verdaccio?.least !== undefined && verdaccio.ratio >= verdaccio.least,
  ]
  const isBound = [least, most, bare?.least, verdaccio?.least].map((bound) => bound !== undefined)
  if (!isBound.includes(true)) return undefined
  return bounds.every((kept, i) => kept || !isBound[i])
}

/** What a figure is to reach, in words: `>= 0.55 of bare`. */
export function toTarget({ unit, least, most, bare, verdaccio }: Figure): string {
  const inUnit = (bound: number) => [show(bound), unit].filter((word) => word !== '').join(' ')
  return [
    least !== undefined && `≥ ${inUnit(least)}`,
    most !== undefined && `≤ ${inUnit(most)}`,
    bare?.least !== undefined && `≥ ${bare.least} of bare`,
    verdaccio?.least !== undefined && `≥ ${verdaccio.least} × Verdaccio`,
  ]
    .filter((word) => word !== false)
    .join(', ')
}

/**
 * Rows of a table that a part prints, as figures: `column` has the values, and what else a row has is said in the note.
 *
 * @example
 * fromRows('Loading', { 'from memory': { median: 0.005, p99: 0.01 } }, { column: 'median', unit: 'ms' })
 */
export function fromRows(
  part: string,
  rows: Readonly<Record<string, object>>,
  { column, unit }: { column: string; unit: string },
): Figure[] {
  return Object.entries(rows).map(([name, row]) => {
    const { [column]: value, bare, ratio, ...rest } = row as Record<string, number | string>
    const note = Object.entries(rest).map(
      ([key, figure]) => `${key} ${Number.isNaN(Number(figure)) ? figure : show(Number(figure))}`,
    )
    const comparison = bare === undefined ? {} : { bare: { value: Number(bare), ratio: Number(ratio) } }
    return { part, name, value: Number(value), unit, ...comparison, ...(note.length > 0 && { note: note.join(', ') }) }
  })
}

/** Prints the figures of a part as a table. */
export function printFigures(figures: readonly Figure[]): void {
  for (const part of new Set(figures.map((figure) => figure.part))) {
    console.log(`\n${part}`)
    const rows = figures
      .filter((figure) => figure.part === part)
      .map((figure) => [figure.name, toPrinted(figure)] as const)
    console.table(Object.fromEntries(rows))
  }
}

function toPrinted(figure: Figure) {
  const { value, unit, bare, verdaccio } = figure
  const kept = holds(figure)
  return {
    measured: round(value),
    unit,
    ...(bare && { 'of bare': round(bare.ratio) }),
    ...(verdaccio && { 'of Verdaccio': round(verdaccio.ratio) }),
    target: toTarget(figure),
    '': kept === undefined ? '' : kept ? 'holds' : 'MISSED',
  }
}

/** Three digits are as much as two shared cores can tell. */
function round(figure: number): number {
  return Math.abs(figure) >= 100 ? Math.round(figure) : Number(figure.toPrecision(3))
}

/** As the table, the chart and the sentences show it. */
export function show(figure: number): string {
  return round(figure).toLocaleString('en', { maximumFractionDigits: 6 })
}
