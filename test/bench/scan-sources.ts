import { decodeText } from '../../packages/scanner/src/text/decode.ts'
import { foldText, type Folded } from '../../packages/scanner/src/text/fold.ts'
import { readTraits, type SearchTraits } from '../../packages/scanner/src/match/match.ts'
import { PreparedRules } from '../../packages/scanner/src/rules/prepared-rules.ts'
import { toTables } from '../../packages/scanner/src/match/search-tables.ts'
import { codeRules, combinations, facts, probes, rules } from '../../packages/scanner/src/rules/rule-table.ts'
import type { Fact, Pattern, Rule } from '../../packages/scanner/src/match/rule.ts'
import { Scan } from '../../packages/scanner/src/scan-files.ts'
import { Search, type Hit } from '../../packages/scanner/src/match/search.ts'

import { toScore, toVerdict } from '@skillstead/scanner'
import { scanFiles } from '@skillstead/scanner/rules'
import { Alternatives, replaceWordLists, toAlternatives, toWordLists } from './pattern-alternatives.ts'
import { toTexts, type Judged, type Sample, type TextFile } from './scan-samples.ts'

const patterns = probes.flatMap((probe) => probe.patterns)
const numberOf = new Map(patterns.map((pattern, number) => [pattern, number]))

/**
 * Scans each sample without what only its own group supports: rules, patterns and entries of word lists whose hits in
 * malicious samples all lie in that group. So the result estimates what the rules find in sources that no one has seen
 * yet, and in which the wordings differ. What `others` support, malicious skills of another author, stays.
 */
export function judgeByGroup(
  judged: readonly Judged[],
  toGroup: (sample: Sample) => string,
  others: readonly (readonly TextFile[])[] = [],
): Judged[] {
  const uses = new Uses()
  for (const files of others) {
    for (const { ruleId, signal } of scanFiles(files, 0).findings) if (signal !== 'none') uses.note(ruleId, elsewhere)
    for (const { text } of files) for (const key of findUsed(text)) uses.note(key, elsewhere)
  }
  for (const { sample, findings } of judged) {
    if (sample.label !== 'malicious') continue
    const group = toGroup(sample)
    for (const { ruleId, signal } of findings) if (signal !== 'none') uses.note(ruleId, group)
    for (const { text } of toTexts(sample)) for (const key of findUsed(text)) uses.note(key, group)
  }
  const groups = Map.groupBy(judged, ({ sample }) => toGroup(sample))
  return [...groups].flatMap(([group, samples]) => {
    const isGone = (key: string) => uses.isOnlyIn(key, group)
    const left = toRules(isGone)
    return samples.map(({ sample }) => judgeWith(sample, left, isGone))
  })
}

/** The group of malicious skills that are no samples. */
const elsewhere = 'elsewhere'

/** The groups in which rules, patterns and entries were found. */
class Uses {
  readonly #groupsOf = new Map<string, Set<string>>()

  note(key: string, group: string): void {
    const groups = this.#groupsOf.get(key)
    if (groups) groups.add(group)
    else this.#groupsOf.set(key, new Set([group]))
  }

  isOnlyIn(key: string, group: string): boolean {
    const groups = this.#groupsOf.get(key)
    return groups !== undefined && groups.size === 1 && groups.has(group)
  }
}

function judgeWith(sample: Sample, left: PreparedRules, isGone: (key: string) => boolean): Judged {
  const scan = new Scan(toTexts(sample), left)
  for (const _ of scan.run());
  const findings = scan.toSecurity(0).findings.filter(({ ruleId }) => !isGone(ruleId))
  return { sample, findings, verdict: toVerdict(findings), score: toScore(findings) }
}

const traitsOf = new Map<Pattern, SearchTraits>()

function toTraits(pattern: Pattern): SearchTraits {
  const traits = traitsOf.get(pattern) ?? readTraits(pattern)
  traitsOf.set(pattern, traits)
  return traits
}

/** The rules without what is gone. */
function toRules(isGone: (key: string) => boolean): PreparedRules {
  const reduce = <T extends Rule | Fact>(probe: T): T => ({
    ...probe,
    patterns: isGone(probe.id) ? [] : probe.patterns.flatMap((pattern) => reducePattern(pattern, isGone)),
  })
  const left = [rules.map(reduce), facts.map(reduce)] as const
  const table = { rules: left[0], probes: [...left[0], ...left[1]], combinations, codeRules }
  return new PreparedRules(table, () => toTables(table.probes.map((probe) => probe.patterns.map(toTraits))))
}

function reducePattern(pattern: Pattern, isGone: (key: string) => boolean): Pattern[] {
  const number = numberOf.get(pattern)!
  if (isGone(`${number}`)) return []
  const expressions = toWordLists(pattern)
  const reduced = expressions.map((expression, part) => {
    const source = alternativesOf(expression).without((alternative) => isGone(toKey(number, part, alternative)))
    return source === undefined ? undefined : new RegExp(source, expression.flags)
  })
  if (reduced.includes(undefined)) return []
  const isSame = reduced.every((each, part) => each!.source === expressions[part]!.source)
  return [isSame ? pattern : replaceWordLists(pattern, reduced as RegExp[])]
}

const toKey = (pattern: number, part: number, alternative: number) => `${pattern} ${part} ${alternative}`

const read = new Map<RegExp, Alternatives>()

function alternativesOf(expression: RegExp): Alternatives {
  const alternatives = read.get(expression) ?? new Alternatives(expression.source)
  read.set(expression, alternatives)
  return alternatives
}

let search: Search | undefined

/** The patterns that match in a text or in what is decoded from it, and the alternatives that their matches consist of. */
function* findUsed(whole: string): Generator<string> {
  search ??= new Search(
    patterns.map((pattern, number) => ({ id: `${number}`, patterns: [pattern] })),
    toTables(patterns.map((pattern) => [toTraits(pattern)])),
  )
  const layers = [whole, ...[...decodeText(whole, ignore)].map(({ text }) => text)]
  for (const text of layers) {
    const hits = [...search.find(text, () => true, ignore)].flat()
    for (const { probe } of hits) yield `${probe}`
    for (const folded of foldText(text)) for (const hit of hits) yield* findAlternatives(hit, text, folded)
  }
}

function ignore(): void {}

function* findAlternatives({ probe, start, end }: Hit, text: string, folded: Folded): Generator<string> {
  const pattern = patterns[probe]!
  const isRaw = 'match' in pattern && pattern.view === 'raw'
  const from = isRaw ? start : folded.offsets.subarray(0, folded.size).indexOf(start)
  const to = isRaw ? end : folded.offsets.subarray(0, folded.size).lastIndexOf(end - 1) + 1
  if (from === -1 || to === 0) return
  const source = isRaw ? text : folded.text
  for (const [part, expression] of toWordLists(pattern).entries()) {
    for (let at = from; at < to; at++) {
      const found = trace(expression, source, at, isRaw)
      if (!found || at + found[0].length > to) continue
      yield* toKeys(probe, part, found)
      break
    }
  }
}

function* toKeys(pattern: number, part: number, found: RegExpExecArray): Generator<string> {
  for (const alternative of toAlternatives(found)) yield toKey(pattern, part, alternative)
}

const traced = new Map<RegExp, RegExp>()

function trace(expression: RegExp, text: string, at: number, isRaw: boolean): RegExpExecArray | null {
  const own = expression.flags.replace(/[^ms]/g, '')
  const tracing = traced.get(expression) ?? alternativesOf(expression).toTraced(`${own}${isRaw ? '' : 'i'}y`)
  traced.set(expression, tracing)
  tracing.lastIndex = at
  return tracing.exec(text)
}
