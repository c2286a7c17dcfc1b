import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { allRules } from '@skillstead/scanner/rules'
import { Search } from '../../packages/scanner/src/match/search.ts'
import { rules as rulesWithPatterns } from '../../packages/scanner/src/rules/rule-table.ts'
import { toVerdict } from '@skillstead/scanner'
import { toProseDigest, proseRecordUrl, type ProseRecord } from '../support/prose-record.ts'
import { isBenign, type Judged } from './scan-samples.ts'

const dataUrl = new URL('../../packages/scanner/src/rules/data/', import.meta.url)

/**
 * Prints for each rule what it finds, and writes the findings of those about prose to the record that test/scanner/prose
 * compares with the rules. A finding counts if it is hostile or suspicious.
 */
export function printAblation(labelled: readonly Judged[], real: readonly Judged[]): void {
  const lines = countLines()
  const times = measureRules(labelled.flatMap(({ sample }) => sample.files.map(({ text }) => text)))
  const rows = allRules.map(({ id }) => ({
    id,
    ...toRow(id, labelled, real),
    lines: lines.get(id) ?? 0,
    ms: times.get(id) ?? 0,
  }))
  console.log(`\nWhat each rule finds in ${labelled.length} labelled skills and ${real.length} real ones`)
  console.table(Object.fromEntries(rows.map(({ id, ...row }) => [id, toPrinted(row)])))
  const record = allRules
    .filter(({ prose }) => prose)
    .map(({ id }): ProseRecord => {
      const row = toRow(id, labelled, real)
      return { id, digest: toProseDigest(id), true: row.true, false: row.false, real: row.real }
    })
  if (real.length > 0) writeFileSync(proseRecordUrl, `${JSON.stringify(record, null, 2)}\n`)
}

function toRow(id: string, labelled: readonly Judged[], real: readonly Judged[]) {
  const isReason = ({ findings }: Judged) =>
    findings.some(({ ruleId, signal }) => ruleId === id && (signal === 'hostile' || signal === 'suspicious'))
  const found = labelled.filter(isReason)
  const alone = found.filter(
    ({ verdict, findings }) =>
      verdict !== 'safe' && toVerdict(findings.filter(({ ruleId }) => ruleId !== id)) === 'safe',
  )
  return {
    true: countBySource(found.filter(({ sample }) => sample.label === 'malicious')),
    alone: alone.filter(({ sample }) => !isBenign(sample)).length,
    false: countBySource(found.filter(({ sample }) => isBenign(sample))),
    real: real.filter(isReason).length,
  }
}

function countBySource(judged: readonly Judged[]): Record<string, number> {
  const bySource = Map.groupBy(judged, ({ sample }) => sample.source)
  return Object.fromEntries([...bySource].map(([source, all]) => [source, all.length] as const).toSorted())
}

type Row = ReturnType<typeof toRow> & { lines: number; ms: number }

function toPrinted({ true: hits, alone, false: alarms, real, lines, ms }: Row) {
  return { true: toText(hits), alone, false: toText(alarms), real, lines, ms }
}

/**
 * The processor time that each rule with patterns adds to a search of all texts, in milliseconds: compared with a search
 * without rules, or with the cheapest rule. On a busy machine, differences of 20 ms are noise.
 */
function measureRules(texts: readonly string[]): ReadonlyMap<string, number> {
  const measureOnce = (search: Search) => {
    const before = process.cpuUsage()
    for (const text of texts) for (const _ of search.find(text, isWanted, onCut));
    return process.cpuUsage(before).user / 1000
  }
  const measure = (rules: ConstructorParameters<typeof Search>[0]) => {
    const search = new Search(rules)
    return Math.min(...Array.from({ length: 3 }, () => measureOnce(search)))
  }
  measure(rulesWithPatterns)
  const times = rulesWithPatterns.map((rule) => [rule.id, measure([rule])] as const)
  const leastMs = Math.min(measure([]), ...times.map(([, ms]) => ms))
  return new Map(times.map(([id, ms]) => [id, Math.round(ms - leastMs)]))
}

const isWanted = () => true
const onCut = () => {}

function toText(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts)
  return entries.map(([source, count]) => `${source.split('/').at(-1)!.slice(0, 16)} ${count}`).join(', ')
}

/** The lines of each rule in its file. */
function countLines(): ReadonlyMap<string, number> {
  const files = readdirSync(dataUrl).map((name) => readFileSync(new URL(name, dataUrl), 'utf8'))
  const rules = files.flatMap((text) => text.split(/^(?= {2}- id: )/m).slice(1))
  return new Map(rules.map((text) => [/id: (\S+)/.exec(text)![1]!, text.trimEnd().split('\n').length]))
}
