/** A beginning and an end with at most `withinMax` characters and no stop between them. */
export interface Flow {
  readonly first: RegExp
  readonly last: RegExp
  /** What ends a command or a sentence. */
  readonly stop: RegExp
  readonly withinMax: number
}

/**
 * A pattern for folded text (see `foldText`), ignoring case; every repetition in it must be bounded. It is only tried
 * around texts that each match must contain, which are derived from the expression.
 */
export type Pattern = Match | Anchored
type Match = RegExp | Flow

/** A pattern together with the texts around which it is tried. */
interface Anchored {
  /**
   * Lower-case texts of at least three bytes, of which every match contains one. All anchors are searched at once: the
   * rarer they are, the faster is the scan.
   */
  readonly anchors: readonly string[]
  readonly match: Match
  /**
   * `raw` matches the original text, case-sensitively, for patterns that depend on what folding removes: punctuation,
   * white space, quotes. `^` and `$` match at lines if the pattern has the flag `m`. Its anchors are still searched in
   * folded text.
   */
  readonly view?: 'raw'
  /** Checks a matched text for properties that no expression can test. Default: every match counts. */
  readonly isMeant?: (text: string) => boolean
}

export const categories = [
  ...(['instruction-override', 'hidden-instructions', 'concealment', 'social-engineering', 'tool-abuse'] as const),
  ...(['tool-overreach', 'exfiltration', 'credential-access', 'embedded-secret', 'remote-code'] as const),
  ...(['obfuscation', 'persistence', 'destruction', 'privilege', 'supply-chain', 'suspicious-host'] as const),
  ...(['binary', 'resource-abuse', 'undisclosed-behaviour', 'incomplete-scan'] as const),
] as const
