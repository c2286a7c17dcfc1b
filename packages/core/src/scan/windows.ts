import type { Folded } from './fold.ts'
import type { Matcher } from './match.ts'
import type { Spots } from './spots.ts'

/** A stretch of a piece, its end not included. */
export interface Window {
  readonly start: number
  readonly end: number
}

const breakMark = 0xe000
const newline = 10

/**
 * The stretches of a piece in which a match may be, apart from each other: around the places of the need that has the
 * fewest, as far as a match goes, and only those that hold all the others.
 */
export function findWindows(matcher: Matcher & { sets: readonly number[] }, spots: Spots, folded: Folded): Window[] {
  const rarest = findRarest(matcher.sets, spots)
  const { before, behind } = matcher.needs[rarest]!
  const windows: Window[] = []
  const close = (start: number, end: number) => {
    if (matcher.sets.every((set, index) => index === rarest || spots.hasWithin(set, start, end))) {
      windows.push({ start, end })
    }
  }
  let start = 0
  let end = -1
  for (const place of spots.places(matcher.sets[rarest]!)) {
    const from = findStart(folded, place.start, Math.max(place.end - before, end), matcher.crosses)
    if (from > end) {
      if (end >= 0) close(start, end)
      start = from
    }
    end = Math.max(end, findEnd(folded, Math.max(place.end, end), place.start + behind, matcher.crosses))
  }
  if (end >= 0) close(start, end)
  return windows
}

function findRarest(sets: readonly number[], spots: Spots): number {
  let rarest = 0
  for (let index = 1; index < sets.length; index++) {
    if (spots.count(sets[index]!) < spots.count(sets[rarest]!)) rarest = index
  }
  return rarest
}

/** Where a match begins at the earliest that takes in a place. */
function findStart({ codes }: Folded, place: number, least: number, crosses: Matcher['crosses']): number {
  const lowest = Math.max(0, least)
  if (crosses === 'passages') return lowest
  let at = Math.min(place, codes.length)
  while (at > lowest && codes[at - 1] !== breakMark && (crosses === 'lines' || codes[at - 1] !== newline)) at--
  return at
}

/** Where it ends at the latest. */
function findEnd({ codes, size }: Folded, place: number, most: number, crosses: Matcher['crosses']): number {
  const highest = Math.min(size, most)
  if (crosses === 'passages') return highest
  let at = place
  while (at < highest && codes[at] !== breakMark && (crosses === 'lines' || codes[at] !== newline)) at++
  return at
}
