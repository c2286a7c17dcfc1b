/** The middle of a list of figures; the mean of the two in the middle where their number is even. */
export function median(figures: readonly number[]): number {
  return quantile(figures, 0.5)
}

/** The figure below which the given share of all lies, interpolated. */
export function quantile(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b)
  const place = share * (sorted.length - 1)
  const below = sorted[Math.floor(place)]!
  return below + (sorted[Math.ceil(place)]! - below) * (place % 1)
}
