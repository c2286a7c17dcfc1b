import { limits } from '@skillstead/protocol'
import Range from 'semver/classes/range.js'
import SemVer from 'semver/classes/semver.js'
import gt from 'semver/functions/gt.js'

/** A range of versions, such as `^1.2.0`, `~1.2.0`, `1.x`, `>=1.0.0 <3.0.0`, `1.2.3` or `*`. */
export interface VersionRange {
  readonly text: string
  /** Whether a version, three numbers, is in the range. */
  includes(version: string): boolean
  /** Whether any version above the given version could be in the range. */
  reachesAbove(version: string): boolean
}

/** How to write a range, as the end of a sentence. */
export const rangeForms =
  'an exact version or a range such as 1.2.3, ^1.2.0, ~1.2, >=1.0.0 <1.4.2, 1.0.0 - 1.3.0, 1.x, or * for all versions'

/** The characters of a range; a hyphen stands alone, since no version here has a prerelease. */
const rangePattern = /^(?:[\dvxX*.^~<>=|\s]|(?<=\s)-(?=\s))+$/

/**
 * Parses a range in the notation of npm (`^ ~ < <= > >= =`, exact, `*`, `a - b`, `||`). Returns undefined for anything
 * else, also for an empty text or alternative, which would mean all versions, and for prereleases, which versions of
 * skills cannot be.
 */
export function parseVersionRange(written: string): VersionRange | undefined {
  const text = written.trim().replaceAll(/\s+/g, ' ')
  const known = ranges.get(text)
  if (known) return known
  if (text.length > limits.rangeCharactersMax || !rangePattern.test(text)) return undefined
  if (text.split('||').some((part) => part.trim() === '')) return undefined
  let range: Range
  try {
    range = new Range(text)
  } catch {
    return undefined
  }
  const parsed: VersionRange = {
    text,
    includes: (version) => range.test(version),
    reachesAbove: (version) => listLowest(range, version).some((lowest) => gt(lowest, version) && range.test(lowest)),
  }
  if (ranges.size >= rangesMax) ranges.clear()
  ranges.set(text, parsed)
  return parsed
}

/** Candidates for the lowest version of a range that is above `above`. */
function listLowest(range: Range, above: string): SemVer[] {
  const bounds = range.set.flat().filter(({ semver, operator }) => semver instanceof SemVer && operator !== '<')
  return [
    new SemVer(above).inc('patch'),
    ...bounds.map(({ semver, operator }) => (operator === '>' ? new SemVer(semver).inc('patch') : semver)),
  ]
}

/** Parsed ranges, cached by text: a few texts occur repeatedly, and parsing takes fifty times as long as a test. */
const ranges = new Map<string, VersionRange>()
const rangesMax = 1000
