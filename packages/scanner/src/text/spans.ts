/** A range of a text, end exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** Whether an offset is in one of some sorted, disjoint ranges. */
export function isWithin(spans: readonly Match[], offset: number): boolean {
  const found = spans[findFirstIndex(spans.length, (index) => spans[index]!.end > offset)]
  return found !== undefined && found.start <= offset
}

/** The first of `count` indexes for which a condition holds, as it must for all later indexes; `count` for none. */
export function findFirstIndex(count: number, isReached: (index: number) => boolean): number {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isReached(middle)) high = middle
    else low = middle + 1
  }
  return low
}
