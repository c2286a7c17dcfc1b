import semver from 'semver'

/** A range of versions, such as `^1.2.0`, `~1.2.0`, `1.x`, `>=1.0.0 <3.0.0`, `1.2.3` or `*`. */
export interface VersionRange {
  readonly text: string
  /** Whether a version, three numbers, is in the range. */
  includes(version: string): boolean
}

const rangeCharactersMax = 100

/**
 * Parses a range in the notation of npm; `latest` and an empty text mean any version. Returns undefined for anything
 * else, and for pre-releases, which versions of skills cannot be.
 */
export function parseVersionRange(written: string): VersionRange | undefined {
  const trimmed = written.trim()
  const text = trimmed === '' || trimmed === 'latest' ? '*' : trimmed
  if (text.length > rangeCharactersMax) return undefined
  const known = ranges.get(text)
  if (known) return known
  let range: semver.Range
  try {
    range = new semver.Range(text)
  } catch {
    return undefined
  }
  if (/\d-[a-z0-9]|\+/i.test(text)) return undefined
  const parsed: VersionRange = { text, includes: (version) => range.test(version) }
  if (ranges.size >= rangesMax) ranges.clear()
  ranges.set(text, parsed)
  return parsed
}

/** Few texts occur again and again, and parsing takes fifty times as long as a test. */
const ranges = new Map<string, VersionRange>()
const rangesMax = 1000
