import type { fileRoles, ScanFinding } from '@skillstead/protocol'

/** What begins and, at most so many characters on, what ends it, with none of what stops it between them. */
export interface Flow {
  readonly first: RegExp
  readonly last: RegExp
  /** What ends a command or a sentence. */
  readonly stop: RegExp
  readonly withinMax: number
}

/** What is looked for in folded text (see `foldText`), without regard to case; every repetition in it is bounded. */
export interface Pattern {
  /**
   * Lower-case pieces of text, each of three bytes at least, of which every match holds one. They are looked for
   * all at once, and `match` is tried around where one stands: the rarer they are, the faster is the scan.
   */
  readonly anchors: readonly string[]
  readonly match: RegExp | Flow
  /**
   * The text as it is written, with regard to case, where folding would lose what matters: marks, white space, quotes.
   * `^` and `$` are those of the lines then, if the pattern has the flag `m`. Its anchors are still found in folded text.
   */
  readonly view?: 'raw'
}

export const categories = [
  ...(['instruction-override', 'hidden-instructions', 'concealment', 'social-engineering', 'tool-abuse'] as const),
  ...(['tool-overreach', 'exfiltration', 'credential-access', 'embedded-secret', 'remote-code'] as const),
  ...(['obfuscation', 'persistence', 'destruction', 'privilege', 'supply-chain', 'suspicious-host'] as const),
  ...(['binary', 'resource-abuse', 'undisclosed-behaviour', 'incomplete-scan'] as const),
] as const
type Category = (typeof categories)[number]

export interface Rule {
  /** Stable, kebab-case: suppressions and reports name it. */
  readonly id: string
  readonly category: Category
  readonly severity: ScanFinding['severity']
  readonly signal: Exclude<ScanFinding['signal'], 'none'>
  /** What was found, as a sentence without its full stop. */
  readonly title: string
  /** Why it matters to whoever installs the skill. */
  readonly why: string
  readonly remediation: string
  /** Addresses of a weakness (CWE), a technique (MITRE ATT&CK, ATLAS) or a list (OWASP) that it belongs to. */
  readonly references: readonly string[]
  /** The files it is about; all but data where it is not said. */
  readonly roles?: readonly (typeof fileRoles)[number][]
  /** True where quoting or forbidding it makes it no better: hidden text, a secret. */
  readonly regardless?: true
  readonly patterns: readonly Pattern[]
}

/** Something that is no finding alone, and part of one together with others: a read of keys, a send, a decoding. */
export interface Fact {
  readonly id: string
  readonly patterns: readonly Pattern[]
}

/** A finding made of facts and findings that stand together: what is read here is sent there. */
export interface Combination extends Omit<Rule, 'patterns'> {
  /** One of each, by their ids, in any order. */
  readonly all: readonly (readonly string[])[]
  /** How far apart they may be: in lines of one file, in one file, or anywhere in the skill. */
  readonly within: number | 'file' | 'skill'
}
