import type { fileRoles, ScanFinding } from '@skillstead/protocol'

/** A beginning and an end with at most `withinMax` characters and no stop between them. */
export interface Flow {
  readonly first: RegExp
  readonly last: RegExp
  /** Ends a command or a sentence. */
  readonly stop: RegExp
  readonly withinMax: number
}

/**
 * Expressions that all match in one sentence, in any order: a verb, its object, where it goes. The first one is searched
 * for, so it should be the rarest.
 */
export interface Together {
  readonly all: readonly RegExp[]
  /** Ends a sentence or a clause. */
  readonly stop: RegExp
  /** Maximum length of the sentence before and after the first expression. */
  readonly withinMax: number
  /** Words that make the sentence harmless, such as a negation. */
  readonly unless: RegExp
}

/**
 * A pattern for folded text (see `foldText`), ignoring case; every repetition in it must be bounded. It is only tried
 * around texts that each match must contain, which are derived from the expression.
 */
export type Pattern = Match | Anchored
type Match = RegExp | Flow | Together

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
  /** Whether the text that an expression matched is meant, for what no expression can tell. */
  readonly isMeant?: (text: string) => boolean
}

export const categories = [
  ...(['instruction-override', 'hidden-instructions', 'concealment', 'social-engineering', 'tool-abuse'] as const),
  ...(['tool-overreach', 'exfiltration', 'credential-access', 'embedded-secret', 'remote-code'] as const),
  ...(['obfuscation', 'persistence', 'destruction', 'privilege', 'supply-chain', 'suspicious-host'] as const),
  ...(['binary', 'resource-abuse', 'undisclosed-behaviour', 'incomplete-scan'] as const),
] as const
type Category = (typeof categories)[number]

export interface Rule {
  /** Stable, kebab-case; used in suppressions and reports. */
  readonly id: string
  readonly category: Category
  readonly severity: ScanFinding['severity']
  readonly signal: Exclude<ScanFinding['signal'], 'none'>
  /** The finding, as a sentence without its full stop. */
  readonly title: string
  /** The risk for a user who installs the skill. */
  readonly why: string
  readonly remediation: string
  /** URLs of related weaknesses (CWE), techniques (MITRE ATT&CK, ATLAS) or lists (OWASP). */
  readonly references: readonly string[]
  /** The roles of files to which the rule applies. Default: all except data. */
  readonly roles?: readonly (typeof fileRoles)[number][]
  /** Whether a match counts even if it is quoted or prohibited, such as hidden text or a secret. */
  readonly regardless?: true
  /** Whether the rule judges the meaning of sentences, so that it needs findings in several independent sources. */
  readonly prose?: true
  /**
   * Whether the rule is about sources of others. A match with addresses of the skill's own product then has the signal
   * `power`, and is no part of combinations about sources of others.
   */
  readonly foreign?: true
  readonly patterns: readonly Pattern[]
}

/** A fact is part of a combination but no finding by itself: reading keys, sending, decoding. */
export interface Fact {
  readonly id: string
  readonly foreign?: true
  readonly patterns: readonly Pattern[]
}

/** A finding that consists of facts and findings near each other, for example reading a secret and sending it. */
export interface Combination extends Omit<Rule, 'patterns'> {
  /** Groups of ids; one of each group must occur, in any order. */
  readonly all: readonly (readonly string[])[]
  /** Maximum distance: a number of lines in one file, the same file, or anywhere in the skill. */
  readonly within: number | 'file' | 'skill'
}
