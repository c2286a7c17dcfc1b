import type { Breaks } from './breaks.ts'
import type { Crossing } from './pattern-parts.ts'
import type { TextPositions } from './text-positions.ts'

/** A range of a piece, end exclusive. */
export interface Window {
  readonly start: number
  end: number
}

/** A need of which the search knows the texts as the set of a number. */
export interface SoughtNeed {
  readonly set: number
  readonly distances: readonly number[]
}

/** With more positions than this in a piece, checking the other needs of each takes longer than trying them all. */
const askedPlacesMax = 128

interface Seeker {
  readonly sought: readonly SoughtNeed[]
  readonly crosses: Crossing
}

/**
 * The possible range of a match that contains a position: it begins between `first` and `last`, and ends between
 * `endLeast` and `end`.
 */
interface Candidate {
  readonly first: number
  readonly last: number
  readonly endLeast: number
  readonly end: number
}

/**
 * Finds the disjoint, sorted ranges of a piece in which a match is possible: around the occurrences of the rarest need,
 * as far as a match extends, if all other needs occur within their distances.
 */
export function findWindows({ sought, crosses }: Seeker, positions: TextPositions, breaks: Breaks): Window[] {
  const rarest = findRarest(sought, positions)
  if (!rarest) return []
  const candidates = findCandidates(rarest, sought, crosses, positions, breaks)
  if (candidates.length > 1) candidates.sort((a, b) => a.first - b.first)
  const windows: Window[] = []
  let last: Window | undefined
  for (const { first, end } of candidates) {
    if (!last || first > last.end) {
      last = { start: first, end }
      windows.push(last)
    }
    last.end = Math.max(last.end, end)
  }
  return windows
}

/** The need with the fewest occurrences; undefined if one has none. */
function findRarest(needs: readonly SoughtNeed[], positions: TextPositions): SoughtNeed | undefined {
  let rarest: SoughtNeed | undefined
  let least = Infinity
  for (let index = 0; index < needs.length; index++) {
    const count = positions.count(needs[index]!.set)
    if (count === 0) return undefined
    if (count >= least) continue
    least = count
    rarest = needs[index]
  }
  return rarest
}

function findCandidates(
  rarest: SoughtNeed,
  needs: readonly SoughtNeed[],
  crosses: Crossing,
  positions: TextPositions,
  breaks: Breaks,
): Candidate[] {
  const candidates: Candidate[] = []
  const others = positions.count(rarest.set) > askedPlacesMax ? [] : needs.filter((need) => need !== rarest)
  const { distances } = rarest
  const texts = positions.textsOf(rarest.set)
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!
    const times = positions.timesOf(text)
    const [before, behind, outside] = [distances[3 * index]!, distances[3 * index + 1]!, distances[3 * index + 2]!]
    for (let time = 0; time < times; time++) {
      const endOfPlace = positions.endOf(text, time)
      const place = endOfPlace - positions.lengthOf(text)
      const candidate: Candidate = {
        first: Math.max(endOfPlace - before, breaks.startOf(place, crosses)),
        last: place + outside,
        endLeast: endOfPlace - outside,
        end: Math.min(place + behind, breaks.endOf(endOfPlace, crosses)),
      }
      if (others.every((need) => isNear(need, candidate, positions))) candidates.push(candidate)
    }
  }
  return candidates
}

/** Whether one of a need's texts occurs within its distances from the ends of such a match. */
function isNear({ set, distances }: SoughtNeed, candidate: Candidate, positions: TextPositions): boolean {
  const { first, last, endLeast, end } = candidate
  const texts = positions.textsOf(set)
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!
    if (positions.timesOf(text) === 0) continue
    const [before, behind, outside] = [distances[3 * index]!, distances[3 * index + 1]!, distances[3 * index + 2]!]
    const least = Math.max(first, endLeast - behind) - outside + positions.lengthOf(text)
    if (positions.endsWithin(text, least, Math.min(end, last + before) + outside)) return true
  }
  return false
}
