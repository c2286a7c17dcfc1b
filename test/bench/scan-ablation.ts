import { readdirSync } from 'node:fs'
import { allRules, scanFiles } from '@skillstead/scanner/rules'
import { toVerdict } from '@skillstead/scanner'
import type { RuleCases } from '../rules/cases.ts'
import { flowHits } from '../rules/flow-cases.ts'
import { isBenign, type Judged } from './scan-samples.ts'

type RuleTable = Record<string, RuleCases>

/**
 * Prints for each rule what the labelled skills and the examples of `test/rules` lose without it. A rule may only go if
 * another one finds all its examples. A combination counts as a rule of its own.
 */
export async function printAblation(judged: readonly Judged[]): Promise<void> {
  const examples = await readExamples()
  const rows = allRules.map(({ id }) => [id, toAblation(id, judged, examples.get(id) ?? [])] as const)
  console.log(`\nWithout each rule, on ${judged.length} labelled skills and the examples of test/rules`)
  console.table(Object.fromEntries(rows.toSorted(([a], [b]) => a.localeCompare(b))))
}

function toAblation(id: string, judged: readonly Judged[], examples: readonly string[]) {
  const without = judged
    .filter(({ findings }) => findings.some(({ ruleId }) => ruleId === id))
    .map((each) => ({ ...each, after: toVerdict(each.findings.filter(({ ruleId }) => ruleId !== id)) }))
  const cleared = without.filter(({ verdict, after }) => verdict !== 'safe' && after === 'safe')
  const eased = without.filter(({ verdict, after }) => verdict === 'dangerous' && after !== 'dangerous')
  const alone = examples.filter((text) => {
    const { findings } = scanFiles([{ path: 'SKILL.md', text }], 0)
    return findings.every(({ ruleId, signal }) => ruleId === id || signal === 'none')
  })
  return {
    'found in': without.length,
    'flagged lost': cleared.filter((each) => !isBenign(each)).length,
    'dangerous lost': eased.filter((each) => !isBenign(each)).length,
    'false alarms gone': cleared.filter(isBenign).length,
    examples: examples.length,
    'found by it alone': alone.length,
  }
}

/** The texts of `test/rules` in which each rule finds something. */
async function readExamples(): Promise<ReadonlyMap<string, readonly string[]>> {
  const folder = new URL('../rules/', import.meta.url)
  const files = await Promise.all(
    readdirSync(folder).map((file) => import(new URL(file, folder).href) as Promise<Record<string, RuleTable>>),
  )
  const tables = files.flatMap((file) => Object.entries(file)).filter(([name]) => name.endsWith('Cases'))
  const hits = tables.flatMap(([, table]) => Object.entries(table).map(([id, cases]) => [id, cases.hits] as const))
  const all = [...hits, ...flowHits.map(([id, text]) => [id, [text]] as const)]
  return new Map([...Map.groupBy(all, ([id]) => id)].map(([id, of]) => [id, of.flatMap(([, texts]) => texts)]))
}
