import { findFirstIndex } from '../text/spans.ts'
import type { Combination } from '../rules/load-rules.ts'

/** Location of a fact or a finding. */
export interface Spot {
  readonly id: string
  readonly file: number
  readonly line: number
  readonly offset: number
  /** Whether all addresses of the fact or finding are those of the skill's own product. */
  readonly isOwn?: boolean
}

/**
 * Finds the spots of a combination: each spot of its last group, at most one per line, that has spots of all other
 * groups within the distance.
 */
export function findCombinedSpots(
  { all, within, foreign }: Combination,
  spotsOf: ReadonlyMap<string, readonly Spot[]>,
): Spot[] {
  if (!all.every((ids) => ids.some((id) => spotsOf.has(id)))) return []
  const groups = all.map((ids) => ids.flatMap((id) => spotsOf.get(id) ?? []).filter(({ isOwn }) => !(foreign && isOwn)))
  // Several facts on a line are one place of a finding.
  const last = [...Map.groupBy(groups.at(-1)!, ({ file, line }) => `${file} ${line}`).values()].map(([first]) => first!)
  const others = groups.slice(0, -1)
  if (within === 'skill') return others.every(({ length }) => length > 0) ? last : []
  const nearOf = others.map((spots) => new Near(spots))
  return last.filter((spot) => nearOf.every((near) => near.has(spot, within)))
}

/** The sorted lines of spots by file. */
class Near {
  readonly #linesOf: ReadonlyMap<number, readonly number[]>

  constructor(spots: readonly Spot[]) {
    const byFile = Map.groupBy(spots, ({ file }) => file)
    this.#linesOf = new Map(
      [...byFile].map(([file, all]) => [file, all.map(({ line }) => line).toSorted((a, b) => a - b)]),
    )
  }

  has({ file, line }: Spot, within: number | 'file'): boolean {
    const lines = this.#linesOf.get(file)
    if (!lines) return false
    if (within === 'file') return true
    const nearest = lines[findFirstIndex(lines.length, (index) => lines[index]! >= line - within)]
    return nearest !== undefined && nearest <= line + within
  }
}
