/** Something about a document that its author should know; codes are stable, messages are whole sentences. */
export interface SkillWarning {
  readonly code: string
  readonly message: string
  /** The 1-based line of the whole document. */
  readonly line?: number
}

/**
 * How the frontmatter was found: `ok` as YAML takes it, `repaired` line by line, `missing`, `empty` between its
 * dashes, `unterminated` (only its leading lines were read) or `invalid` (nothing could be read).
 */
export type FrontmatterStatus = 'ok' | 'repaired' | 'missing' | 'empty' | 'unterminated' | 'invalid'

/** Where a key stands, and how its value is written where parsers may not read that as text (`8004`, `1.10`, `yes`). */
export interface KeyMark {
  readonly line: number
  readonly written?: string
}

/** A SKILL.md as read by `parseSkillMd`. */
export interface ParsedSkillMd {
  /** Plain JSON values only; never holds the key `__proto__`. */
  readonly frontmatter: Record<string, unknown>
  readonly frontmatterStatus: FrontmatterStatus
  /** Everything after the frontmatter, byte for byte. */
  readonly body: string
  /** The 1-based line on which the body begins. */
  readonly bodyLine: number
  /** What had to be guessed, dropped or repaired. */
  readonly warnings: readonly SkillWarning[]
  /** What strict readers refuse though this one does not: flow style, anchors, tags; see `checkPortability`. */
  readonly strictIssues: readonly SkillWarning[]
  /** The keys at the top and, as `metadata.<key>`, below `metadata`. */
  readonly keys: ReadonlyMap<string, KeyMark>
}
