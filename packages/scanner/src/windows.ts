import type { Breaks } from './breaks.ts'
import type { Crossing, Need } from './pattern-parts.ts'
import type { TextPositions } from './text-positions.ts'

/** A range of a piece, end exclusive, and where in it a match may begin. */
export interface Window {
  readonly start: number
  end: number
  readonly beginnings: Span[]
}

/** A range of positions, both ends inclusive. */
interface Span {
  readonly first: number
  readonly last: number
}

/** A need prepared for the search: for each of its texts, in order, the maximum distances from the ends of a match. */
export interface SoughtNeed {
  readonly set: number
  readonly befores: Uint16Array
  readonly behinds: Uint16Array
  readonly outsides: Uint16Array
}

export function toSoughtNeed(need: Need, positions: TextPositions): SoughtNeed {
  const befores = new Uint16Array(need.length)
  const behinds = new Uint16Array(need.length)
  const outsides = new Uint16Array(need.length)
  for (const [index, { before, behind, outside = 0 }] of need.entries()) {
    befores[index] = before
    behinds[index] = behind
    outsides[index] = outside
  }
  return { set: positions.setOf(need.map(({ text }) => text)), befores, behinds, outsides }
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
interface Candidate extends Span {
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
  for (const { first, last: lastBeginning, end } of candidates) {
    if (!last || first > last.end) {
      last = { start: first, end, beginnings: [] }
      windows.push(last)
    }
    last.end = Math.max(last.end, end)
    last.beginnings.push({ first, last: lastBeginning })
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
  const texts = positions.textsOf(rarest.set)
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!
    const times = positions.timesOf(text)
    for (let time = 0; time < times; time++) {
      const endOfPlace = positions.endOf(text, time)
      const place = endOfPlace - positions.lengthOf(text)
      const candidate: Candidate = {
        first: Math.max(endOfPlace - rarest.befores[index]!, breaks.startOf(place, crosses)),
        last: place + rarest.outsides[index]!,
        endLeast: endOfPlace - rarest.outsides[index]!,
        end: Math.min(place + rarest.behinds[index]!, breaks.endOf(endOfPlace, crosses)),
      }
      if (others.every((need) => isNear(need, candidate, positions))) candidates.push(candidate)
    }
  }
  return candidates
}

/** Whether one of a need's texts occurs within its distances from the ends of such a match. */
function isNear(
  { set, befores, behinds, outsides }: SoughtNeed,
  candidate: Candidate,
  positions: TextPositions,
): boolean {
  const { first, last, endLeast, end } = candidate
  const texts = positions.textsOf(set)
  for (let index = 0; index < texts.length; index++) {
    const text = texts[index]!
    if (positions.timesOf(text) === 0) continue
    const outside = outsides[index]!
    const least = Math.max(first, endLeast - behinds[index]!) - outside + positions.lengthOf(text)
    if (positions.endsWithin(text, least, Math.min(end, last + befores[index]!) + outside)) return true
  }
  return false
}
