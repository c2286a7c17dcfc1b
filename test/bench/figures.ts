/** One figure: a row of a table, and bars of the chart where it is compared. */
export interface Figure {
  /** What it belongs to, which is a section of the table: `Over HTTP`. */
  readonly part: string
  /** What was done: `GET /skills/<name>, cached`. */
  readonly name: string
  readonly value: number
  /** `requests/s`, `ms`, `MiB`; empty for a share or a count. */
  readonly unit: string
  /** Targets for `value`. */
  readonly least?: number
  readonly most?: number
  /** The same done by other programs, in the same turns. */
  readonly compared?: readonly Comparison[]
  /** What a reader has to know of it: `100 requests/s alongside 20 publishes/s`. */
  readonly note?: string
}

/** The result of another program, and ours divided by it: the median over the turns. */
export interface Comparison {
  readonly with: string
  readonly value: number
  readonly ratio: number
  /** The least that the ratio is to be. */
  readonly least?: number
}

/** Whether a figure reaches its targets; undefined if it has none. */
export function holds(figure: Figure): boolean | undefined {
  const shares = toShares(figure)
  return shares.length === 0 ? undefined : shares.every((share) => share <= 1)
}

/** How much of each target a figure uses: above 1 it misses the target. */
function toShares({ value, least, most, compared = [] }: Figure): number[] {
  const ofRatios = compared.map(({ ratio, least: ratioLeast }) => ratioLeast && ratioLeast / ratio)
  return [least && least / value, most && value / most, ...ofRatios].filter((share) => share !== undefined)
}

/** What a figure is to reach, in words: `≥ 0.55 × bare node:http`. */
export function toTarget({ unit, least, most, compared = [] }: Figure): string {
  return [
    least && `≥ ${show(least)} ${unit}`.trimEnd(),
    most && `≤ ${show(most)} ${unit}`.trimEnd(),
    ...compared.map((other) => other.least && `≥ ${other.least} × ${other.with}`),
  ]
    .filter((word) => word !== undefined)
    .join(', ')
}

/** The ratios of a figure and its note, in words. */
function toRemarks({ compared = [], note }: Figure): string {
  const ratios = compared.map((other) => `${show(other.ratio)} × ${other.with} (${show(other.value)})`)
  return [...ratios, ...(note === undefined ? [] : [note])].join('; ')
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
    const { [column]: value, ...rest } = row as Record<string, number | string>
    const note = Object.entries(rest).map(
      ([key, figure]) => `${key} ${Number.isNaN(Number(figure)) ? figure : show(Number(figure))}`,
    )
    return { part, name, value: Number(value), unit, ...(note.length > 0 && { note: note.join(', ') }) }
  })
}

/** Prints figures as a table for each part. */
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
  const kept = holds(figure)
  return {
    measured: round(figure.value),
    unit: figure.unit,
    'compared, and how': toRemarks(figure),
    target: toTarget(figure),
    '': kept === undefined ? '' : kept ? 'holds' : 'MISSED',
  }
}

/** Three digits are as much as two shared cores can tell. */
function round(figure: number): number {
  return Math.abs(figure) >= 100 ? Math.round(figure) : Number(figure.toPrecision(3))
}

/** As the tables and the chart show it. */
export function show(figure: number): string {
  return round(figure).toLocaleString('en', { maximumFractionDigits: 6 })
}
