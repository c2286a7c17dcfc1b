const versionPattern = /^(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})\.(0|[1-9]\d{0,9})$/

/** The three numbers of a version such as `1.10.0`. */
export type VersionParts = readonly [major: number, minor: number, patch: number]

/**
 * Parses a version: three dot-separated non-negative integers without leading zeros, of at most ten digits each.
 * Returns undefined for anything else, including pre-releases of Semantic Versioning.
 */
export function parseVersion(text: string): VersionParts | undefined {
  const match = versionPattern.exec(text)
  return match ? [Number(match[1]), Number(match[2]), Number(match[3])] : undefined
}

/** Whether the text is a version that can be published. */
export function isVersion(text: string): boolean {
  return versionPattern.test(text)
}

/** Compares two versions numerically: negative if `a` is lower. Throws a TypeError for text that is not a version. */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [getParts(a), getParts(b)]
  return first[0] - second[0] || first[1] - second[1] || first[2] - second[2]
}

/** Increments the last number of a version. Throws a TypeError for text that is not a version. */
export function nextPatch(version: string): string {
  const [major, minor, patch] = getParts(version)
  return `${major}.${minor}.${patch + 1}`
}

/** A text that sorts by code unit as the version sorts numerically, for databases. */
export function toVersionSortKey(version: string): string {
  return getParts(version)
    .map((part) => String(part).padStart(10, '0'))
    .join('.')
}

/**
 * Whether a version in the details of a skill or in a list is offered to installers: neither yanked nor recalled, so
 * that it can be the latest version.
 */
export function isOfferedVersion({
  yanked,
  recalled,
}: {
  readonly yanked: boolean
  readonly recalled?: unknown
}): boolean {
  return !yanked && recalled === undefined
}

function getParts(version: string): VersionParts {
  const parts = parseVersion(version)
  if (!parts) throw new TypeError(`'${version}' is not a version. Use three numbers such as 1.2.3.`)
  return parts
}
