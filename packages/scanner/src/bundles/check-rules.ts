import { visitRegExpAST } from '@eslint-community/regexpp'
import { setImmediate } from 'node:timers/promises'
import { toErrorText, toOneLine } from '@skillstead/protocol'
import { parseExpression, readExpression } from '../match/read-expression.ts'
import type { Pattern } from '../match/rule.ts'
import { listExpressions } from '../match/traits.ts'
import { addRules, loadDocument, PreparedRules } from '../rules/prepared-rules.ts'
import { bundleLimits } from '../rules/bundle-limits.ts'
import type { Example, FactData, RuleData, RulesDocument } from '../rules/rule-document.ts'
import { builtInIds } from '../rules/rule-table.ts'
import { Scan } from '../scan-files.ts'

/**
 * Checks the rules of a document: their ids, their expressions (as strictly as those of built-in rules), and their
 * examples. Yields to the event loop after each rule. Throws an error that names the rule and what is wrong with it.
 */
export async function checkRules(document: RulesDocument): Promise<void> {
  const ids = new Set<string>()
  const searched = new Set<string>()
  for (const data of [...(document.facts ?? []), ...document.rules]) {
    await checkRule(data, () => {
      if (builtInIds.has(data.id)) throw new TypeError('A built-in rule has this id. Choose another id.')
      if (ids.has(data.id)) throw new TypeError('Another rule of the bundle has this id. Choose another id.')
      ids.add(data.id)
      for (const text of checkExpressions(data, document)) searched.add(text)
    })
  }
  const characters = [...searched].reduce((sum, { length }) => sum + length, 0)
  if (characters > bundleLimits.searchedCharactersMax)
    throw new TypeError(
      `The words and anchors of the rules have ${characters} characters; at most ${bundleLimits.searchedCharactersMax} are allowed. Use fewer or shorter ones.`,
    )
  const all = addRules(loadDocument(document), '')
  for (const data of document.rules) {
    await checkRule(data, () => {
      if ('combination' in data) requireIds(data.combination.all.flat(), ids)
      const isAlone = 'patterns' in data && !data.code
      checkExamples(data, isAlone ? new PreparedRules(loadAlone(data, document)) : all)
    })
  }
}

async function checkRule({ id }: RuleData | FactData, check: () => void): Promise<void> {
  try {
    check()
  } catch (cause) {
    throw new TypeError(`The rule ${id} is not valid: ${toOneLine(toErrorText(cause))}`, { cause })
  }
  await setImmediate()
}

function loadAlone(data: RuleData | FactData, document: RulesDocument) {
  const isFact = !('title' in data)
  return loadDocument({ ...document, facts: isFact ? [data] : [], rules: isFact ? [] : [data] })
}

/** Checks the expressions of a rule. Returns the texts that a scan searches for before it tries the rule's patterns. */
function checkExpressions(data: RuleData | FactData, document: RulesDocument): string[] {
  const prepared = new PreparedRules(loadAlone(data, document))
  for (const { value, except } of prepared.codeRules.flatMap(({ from, to }) => (from ? [from, to] : [to]))) {
    for (const each of [value, except]) if (each) requireFewWays(each)
  }
  for (const pattern of prepared.probes.flatMap(({ patterns }) => patterns)) checkPattern(pattern)
  // The getter throws if an anchor is wrong.
  void prepared.search
  return prepared.traits.flat().flatMap(({ needs }) => needs.flatMap(({ texts }) => texts))
}

function requireIds(named: readonly string[], ids: ReadonlySet<string>): void {
  const unknown = named.find((id) => !ids.has(id) && !builtInIds.has(id))
  if (unknown !== undefined) throw new TypeError(`There is no rule or fact '${unknown}'.`)
}

function checkExamples(data: RuleData, prepared: PreparedRules): void {
  for (const example of data.examples.hit) {
    if (!hasFinding(prepared, data.id, example))
      throw new TypeError(`It does not find its example ${quoteExample(example)}`)
  }
  for (const example of data.examples.miss) {
    if (hasFinding(prepared, data.id, example))
      throw new TypeError(`It finds ${quoteExample(example)}, which it must not find.`)
  }
}

function checkPattern(pattern: Pattern): void {
  for (const expression of listExpressions('match' in pattern ? pattern.match : pattern)) {
    const { source } = expression
    if (source === '(?!)') continue
    if (requireFewWays(expression) === 0) throw new TypeError(`The expression ${source} can match the empty text.`)
  }
  if ('match' in pattern && pattern.view === 'raw' && pattern.anchors.length === 0)
    throw new TypeError('A pattern for raw text needs anchors: literal texts, one of which every match contains.')
}

/** Refuses an expression that could take more than linear time. Returns the length of its shortest match. */
function requireFewWays(expression: RegExp): number {
  const { source } = expression
  visitRegExpAST(parseExpression(source), {
    onBackreferenceEnter: ({ raw }) => refuseRulesBundle(`The backreference ${raw} is not allowed.`),
    onCapturingGroupEnter: ({ name, raw }) =>
      name !== null && refuseRulesBundle(`The named group ${raw} is not allowed.`),
  })
  const { ways, charactersMin } = readExpression(expression)
  if (ways <= bundleLimits.waysMax) return charactersMin
  const count = ways === Infinity ? 'any number of ways' : `up to ${ways.toPrecision(2)} ways`
  throw new TypeError(
    `The expression ${source} has ${count} to match at one position; at most ${bundleLimits.waysMax} are allowed. Bound its repetitions, or split it.`,
  )
}

function refuseRulesBundle(reason: string): never {
  throw new TypeError(reason)
}

function hasFinding(rules: PreparedRules, id: string, example: Example): boolean {
  const scan = new Scan([typeof example === 'string' ? { path: 'SKILL.md', text: example } : example], rules)
  for (const _ of scan.run());
  return scan.toSecurity(0).findings.some(({ ruleId, signal }) => ruleId === id && signal !== 'none')
}

function quoteExample(example: Example): string {
  return JSON.stringify(typeof example === 'string' ? example : example.text)
}
