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
 * Finds the disjoint, sorted ranges of a piece in which a match is possible: around the occurrences of the rarest need,
 * as far as a match extends, if all other needs occur within their distances.
 */
export function findWindows({ sought, crosses }: Seeker, positions: TextPositions, breaks: Breaks): readonly Window[] {
  const rarest = findRarest(sought, positions)
  if (!rarest) return none
  const windows = findCandidates(rarest, sought, crosses, positions, breaks)
  if (windows.length < 2) return windows
  windows.sort((a, b) => a.start - b.start)
  let last = windows[0]!
  const disjoint = [last]
  for (const window of windows) {
    if (window.start <= last.end) last.end = Math.max(last.end, window.end)
    else disjoint.push((last = window))
  }
  return disjoint
}

const none: readonly Window[] = []

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

/**
 * Finds the possible ranges of matches that contain the rarest need. Such a match begins between `start` and `last`, and
 * ends between `endLeast` and `end`.
 */
function findCandidates(
  rarest: SoughtNeed,
  needs: readonly SoughtNeed[],
  crosses: Crossing,
  positions: TextPositions,
  breaks: Breaks,
): Window[] {
  const candidates: Window[] = []
  const { set, distances } = rarest
  const asksOthers = positions.count(set) <= askedPlacesMax
  for (let member = positions.firstOf(set); member !== 0; member = positions.nextOf(member)) {
    const text = positions.textOf(set, member)
    const times = positions.timesOf(text)
    const length = positions.lengthOf(text)
    const at = 3 * positions.placeOf(member)
    const [before, behind, outside] = [distances[at]!, distances[at + 1]!, distances[at + 2]!]
    for (let time = 0; time < times; time++) {
      const placeEnd = positions.endOf(text, time)
      const place = placeEnd - length
      const start = Math.max(placeEnd - before, breaks.startOf(place, crosses))
      const end = Math.min(place + behind, breaks.endOf(placeEnd, crosses))
      let isPossible = true
      for (let index = 0; asksOthers && isPossible && index < needs.length; index++) {
        const need = needs[index]!
        isPossible = need === rarest || isNear(need, start, place + outside, placeEnd - outside, end, positions)
      }
      if (isPossible) candidates.push({ start, end })
    }
  }
  return candidates
}

/** Whether one of a need's texts occurs within its distances from the ends of such a match. */
function isNear(
  { set, distances }: SoughtNeed,
  start: number,
  last: number,
  endLeast: number,
  end: number,
  positions: TextPositions,
): boolean {
  for (let member = positions.firstOf(set); member !== 0; member = positions.nextOf(member)) {
    const text = positions.textOf(set, member)
    const at = 3 * positions.placeOf(member)
    const [before, behind, outside] = [distances[at]!, distances[at + 1]!, distances[at + 2]!]
    const least = Math.max(start, endLeast - behind) - outside + positions.lengthOf(text)
    if (positions.endsWithin(text, least, Math.min(end, last + before) + outside)) return true
  }
  return false
}
