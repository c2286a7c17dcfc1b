import { setImmediate } from 'node:timers/promises'
import { toOneLine } from '@skillstead/protocol'
import { readTraits, toExpressions } from '../match/match.ts'
import { PreparedRules } from '../rules/prepared-rules.ts'
import type { Pattern } from '../match/rule.ts'
import { toTables } from '../match/search-tables.ts'
import { Scan } from '../scan-files.ts'
import { measureExpression } from './measure-expression.ts'
import { builtInIds } from '../rules/prepare-rules.ts'
import { bundleLimits } from '../rules/bundle-limits.ts'
import type { Example, RuleData, RulesDocument } from '../rules/rules-document.ts'
import { toRule } from '../rules/to-rules.ts'

/**
 * Checks the rules of a document: their ids, their expressions by the checks of the built-in ones, and their examples.
 * Yields to the event loop after each rule. Throws an error that names the rule and what is wrong with it.
 */
export async function checkRules({ rules, words = {} }: RulesDocument): Promise<void> {
  const ids = new Set<string>()
  const searched = new Set<string>()
  for (const data of rules) {
    try {
      if (builtInIds.has(data.id)) throw new TypeError('A built-in rule has this id.')
      if (ids.has(data.id)) throw new TypeError('Another rule of the bundle has this id.')
      ids.add(data.id)
      for (const text of checkRule(data, words)) searched.add(text)
    } catch (cause) {
      throw new TypeError(`The rule ${data.id} is not valid: ${toOneLine((cause as Error).message)}`, { cause })
    }
    await setImmediate()
  }
  const characters = [...searched].reduce((sum, { length }) => sum + length, 0)
  if (characters > bundleLimits.searchedCharactersMax)
    throw new TypeError(
      `The rules search for ${characters} characters, of at most ${bundleLimits.searchedCharactersMax}. Use fewer or shorter words and anchors.`,
    )
}

/** Returns the texts around which the patterns of the rule are tried. */
function checkRule(data: RuleData, words: NonNullable<RulesDocument['words']>): string[] {
  const rule = toRule(data, words)
  for (const pattern of rule.patterns) checkPattern(pattern)
  const alone = { rules: [rule], probes: [rule], combinations: [], codeRules: [] }
  const traits = rule.patterns.map(readTraits)
  const prepared = new PreparedRules(alone, () => toTables([traits]))
  // Throws for a wrong anchor.
  void prepared.search
  for (const example of data.examples.hit) {
    if (!hasFinding(prepared, example)) throw new TypeError(`It does not find its example ${quote(example)}`)
  }
  for (const example of data.examples.miss) {
    if (hasFinding(prepared, example)) throw new TypeError(`It finds ${quote(example)}, which it must not find.`)
  }
  return traits.flatMap(({ needs }) => needs.flatMap(({ texts }) => texts))
}

function checkPattern(pattern: Pattern): void {
  const match = 'match' in pattern ? pattern.match : pattern
  for (const { source } of toExpressions(match)) {
    if (source === '(?!)') continue
    const { ways, charactersMin } = measureExpression(source)
    if (ways > bundleLimits.waysMax) {
      const count = ways === Infinity ? 'any number of ways' : `up to ${ways.toPrecision(2)} ways`
      throw new TypeError(
        `The expression ${source} has ${count} to match at one position; at most ${bundleLimits.waysMax} are allowed. Bound its repetitions, or split it.`,
      )
    }
    if (charactersMin === 0) throw new TypeError(`The expression ${source} can match the empty text.`)
  }
  readTraits(pattern)
  if ('match' in pattern && pattern.view === 'raw' && pattern.anchors.length === 0)
    throw new TypeError('A pattern for raw text needs anchors.')
}

function hasFinding(rules: PreparedRules, example: Example): boolean {
  const scan = new Scan([typeof example === 'string' ? { path: 'SKILL.md', text: example } : example], rules)
  for (const _ of scan.run());
  const [rule] = rules.rules
  return scan.toSecurity(0).findings.some(({ ruleId, signal }) => ruleId === rule!.id && signal !== 'none')
}

function quote(example: Example): string {
  return JSON.stringify(typeof example === 'string' ? example : example.text)
}
