/** A range of a text, end exclusive. */
export interface Match {
  readonly start: number
  readonly end: number
}

/** Whether an offset is in one of some sorted, disjoint ranges. */
export function isWithin(spans: readonly Match[], offset: number): boolean {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (spans[middle]!.end <= offset) low = middle + 1
    else high = middle
  }
  return low < spans.length && spans[low]!.start <= offset
}
