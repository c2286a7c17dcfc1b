/** A figure that an issue gives a bound for, or that one wants to know beside those. */
export interface Figure {
  readonly what: string
  readonly measured: number
  readonly most?: number
  readonly least?: number
}

/** Prints each figure beside its bound, and whether that holds. */
export function printFigures(title: string, figures: readonly Figure[]): void {
  console.log(`\n${title}`)
  const rows = figures.map(({ what, measured, most, least }) => {
    const bound = most === undefined ? (least === undefined ? '' : `>= ${round(least)}`) : `<= ${round(most)}`
    const holds = measured <= (most ?? Infinity) && measured >= (least ?? -Infinity)
    return [what, { measured: round(measured), bound, '': bound === '' ? '' : holds ? 'holds' : 'MISSED' }] as const
  })
  console.table(Object.fromEntries(rows))
}

function round(figure: number): number {
  return Number(figure.toPrecision(3))
}
