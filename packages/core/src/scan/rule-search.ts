import type { ScanFinding } from '@skillstead/protocol'
import type { Folded } from './fold.ts'
import { isForbidden, isWithin, toMatcher, type Match, type Matcher } from './match.ts'
import { rules, type Rule } from './rules.ts'
import type { ScanFile } from './scan.ts'

/** How many findings of a rule a report lists. What a sentence forbids is counted apart, so that it crowds out nothing. */
const findingsMax = { open: 20, forbidden: 5 } as const
const excerptCharactersMax = 160

type Kind = keyof typeof findingsMax

const matchersOf = new Map(rules.map((rule) => [rule, rule.patterns.map(toMatcher)]))

/** One rule on its way through the files of one scan. */
export class RuleSearch {
  readonly #rule: Rule
  readonly #matchers: readonly Matcher[]
  readonly #left: Record<Kind, number> = { ...findingsMax }
  #file: ScanFile = { path: '', text: '' }
  #comments: readonly Match[] = []
  /** One finding a line: pieces overlap, and so do patterns. */
  #lines: Record<Kind, Set<number>> = { open: new Set(), forbidden: new Set() }

  constructor(rule: Rule) {
    this.#rule = rule
    this.#matchers = matchersOf.get(rule)!
  }

  /** Goes on to another file, with the spans of its comments. */
  begin(file: ScanFile, comments: readonly Match[]): void {
    this.#file = file
    this.#comments = comments
    this.#lines = { open: new Set(), forbidden: new Set() }
  }

  /** What the rule finds in a piece of the file. */
  *find(folded: Folded): Generator<ScanFinding> {
    for (const matcher of this.#matchers) {
      for (const match of matcher(folded.text)) {
        if (this.#left.open === 0) return
        const kind = match.start < folded.fresh ? undefined : this.#take(folded, match)
        if (kind) yield this.#toFinding(folded, match, kind)
      }
    }
  }

  /** Whether a match is one more finding, and of which kind. */
  #take(folded: Folded, match: Match): Kind | undefined {
    const line = folded.lines[match.start]!
    if (this.#lines.open.has(line)) return undefined
    const kind = isForbidden(folded.text, match) ? 'forbidden' : 'open'
    if (this.#left[kind] === 0 || this.#lines[kind].has(line)) return undefined
    this.#left[kind]--
    this.#lines[kind].add(line)
    return kind
  }

  #toFinding(folded: Folded, match: Match, kind: Kind): ScanFinding {
    const { id, category, severity, severityHidden, title, remediation } = this.#rule
    const offset = folded.offsets[match.start]!
    const isHidden = folded.hidden.subarray(match.start, match.end).includes(1) || isWithin(this.#comments, offset)
    return {
      ruleId: id,
      category,
      severity: kind === 'forbidden' ? 'info' : isHidden ? severityHidden : severity,
      title,
      path: this.#file.path,
      line: folded.lines[match.start]!,
      column: offset - folded.lineStarts[match.start]! + 1,
      excerpt: toExcerpt(this.#file.text, offset),
      remediation,
    }
  }
}

/** What stands at the place, to the end of the line; what cannot be shown is U+FFFD, so that places stay the same. */
function toExcerpt(text: string, offset: number): string {
  const [line = ''] = text.slice(offset, offset + excerptCharactersMax).split(/[\r\n]/, 1)
  return line.replace(unshownPattern, '\uFFFD').toWellFormed()
}

const unshownPattern = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu
