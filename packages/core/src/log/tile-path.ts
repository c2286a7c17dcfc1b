/** What a path below `/tile/` names (C2SP tlog-tiles): hashes of a level, or the entries. */
export interface TilePath {
  readonly level: number | 'entries'
  readonly n: number
  /** Number of hashes or entries; 256 for a full tile. */
  readonly width: number
}

const pattern = /^(entries|[1-5]?\d|6[0-3])\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/
/** Fifteen digits, the most that a JavaScript number represents exactly. */
const groupsMax = 5

/** Parses a path such as `1/x001/234.p/7`; undefined unless it is the canonical path of a tile. */
export function parseTilePath(path: string): TilePath | undefined {
  const [, level, groups, partial] = pattern.exec(path) ?? []
  if (level === undefined || groups === undefined) return undefined
  const parts = groups.split('/')
  const isPadded = parts.length > 1 && parts[0] === 'x000'
  const width = partial === undefined ? 256 : Number(partial)
  if (isPadded || parts.length > groupsMax || (partial !== undefined && width > 255)) return undefined
  const n = Number(parts.map((part) => part.replace('x', '')).join(''))
  return { level: level === 'entries' ? level : Number(level), n, width }
}

/** Formats the path of a tile, in groups of three digits. */
export function toTilePath({ level, n, width }: TilePath): string {
  const groups = [`${n % 1000}`.padStart(3, '0')]
  for (let rest = Math.floor(n / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${`${rest % 1000}`.padStart(3, '0')}`)
  }
  return `${level}/${groups.join('/')}${width === 256 ? '' : `.p/${width}`}`
}
