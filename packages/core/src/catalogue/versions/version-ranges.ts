import Range from 'semver/classes/range.js'
import intersects from 'semver/ranges/intersects.js'

/** The characters of a range; a hyphen stands alone, since no version here has a prerelease. */
const rangePattern = /^(?:[\dxX*.^~<>=|\s]|(?<=\s)-(?=\s))+$/

/** The maximum length of a range. */
export const rangeCharactersMax = 200

/** How to write a range, as the end of a sentence. */
export const rangeForms =
  'an exact version or a range such as 1.2.3, ^1.2.0, ~1.2, >=1.0.0 <1.4.2, 1.0.0 - 1.3.0, 1.x, or * for all versions'

/**
 * Parses a range of versions as npm writes them (`^ ~ < <= > >= =`, exact, `*`, `a - b`, `||`). Undefined for any other
 * text, also with prereleases, and with an empty alternative, which would mean all versions.
 */
export function parseRange(text: string): Range | undefined {
  if (text.length > rangeCharactersMax || !rangePattern.test(text)) return undefined
  if (text.split('||').some((part) => part.trim() === '')) return undefined
  try {
    return new Range(text)
  } catch {
    return undefined
  }
}

/** Whether a version above this one could be in the range. */
export function reachesAbove(range: Range, version: string): boolean {
  return intersects(range, `>${version}`)
}
