/** A problem of a document that its author should know about; codes are stable, messages are whole sentences. */
export interface SkillWarning {
  readonly code: string
  readonly message: string
  /** The 1-based line in the whole document. */
  readonly line?: number
}

/**
 * How the frontmatter was read: `ok` as valid YAML, `repaired` key by key, `missing`, `empty` between its dashes,
 * `unterminated` (only its leading lines were read) or `invalid` (nothing could be read).
 */
export type FrontmatterStatus = 'ok' | 'repaired' | 'missing' | 'empty' | 'unterminated' | 'invalid'

/** Position of a key, and the source text of a value that some parsers do not read as text (`8004`, `1.10`, `yes`). */
export interface KeyMark {
  readonly line: number
  /** The line of an earlier occurrence of the same key, whose value was dropped. */
  readonly earlierLine?: number
  readonly written?: string
}

/** A SKILL.md as parsed by `parseSkillMd`. */
export interface ParsedSkillMd {
  /** Plain JSON values only; never contains the key `__proto__`. */
  readonly frontmatter: Record<string, unknown>
  readonly frontmatterStatus: FrontmatterStatus
  /** Everything after the frontmatter, byte for byte. */
  readonly body: string
  /** The 1-based line on which the body begins. */
  readonly bodyLine: number
  /** Warnings about guessed, dropped or repaired content. */
  readonly warnings: readonly SkillWarning[]
  /** Constructs that strict parsers reject: flow style, anchors, tags; see `checkPortability`. */
  readonly strictIssues: readonly SkillWarning[]
  /** The top-level keys and, as `metadata.<key>`, those in `metadata`. */
  readonly keys: ReadonlyMap<string, KeyMark>
}
