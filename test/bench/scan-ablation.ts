import { allRules } from '@skillstead/scanner/rules'
import { toVerdict } from '@skillstead/scanner'
import { isBenign, type Judged } from './scan-samples.ts'

/** Prints for each rule what the labelled skills lose without it. A combination counts as a rule of its own. */
export function printAblation(judged: readonly Judged[]): void {
  const rows = allRules.map(({ id }) => [id, toAblation(id, judged)] as const)
  console.log(`\nWithout each rule, on ${judged.length} labelled skills`)
  console.table(Object.fromEntries(rows.toSorted(([a], [b]) => a.localeCompare(b))))
}

function toAblation(id: string, judged: readonly Judged[]) {
  const without = judged
    .filter(({ findings }) => findings.some(({ ruleId }) => ruleId === id))
    .map((each) => ({ ...each, after: toVerdict(each.findings.filter(({ ruleId }) => ruleId !== id)) }))
  const cleared = without.filter(({ verdict, after }) => verdict !== 'safe' && after === 'safe')
  const eased = without.filter(({ verdict, after }) => verdict === 'dangerous' && after !== 'dangerous')
  return {
    'found in': without.length,
    'flagged lost': cleared.filter((each) => !isBenign(each)).length,
    'dangerous lost': eased.filter((each) => !isBenign(each)).length,
    'false alarms gone': cleared.filter(isBenign).length,
  }
}
