import { scanFiles } from '@skillstead/scanner/rules'
import { cloaks } from '../cloak/cloaks.ts'
import type { Cloak } from '../cloak/cloak.ts'
import { elsewhere } from '../cloak/languages.ts'
import { seededRandom } from '../support/random.ts'
import { isLexical, readSamples, type Sample } from './scan-samples.ts'

/** Recall under a cloak may be this much lower than without. */
const lossMax = 0.1

/**
 * Prints for each cloak how many of the lexical samples are flagged in it, how many reports name a part that was not
 * inspected, and how many benign skills are flagged in the same cloak: where that is high, the cloak is the finding.
 */
export function benchCloaks(securityPath: string): void {
  const samples = readSamples(securityPath)
  const lexical = samples.filter(isLexical)
  const benign = samples.filter(({ label }) => label === 'benign')
  const plain = toShare(lexical.map((sample) => scanFiles(sample.files, 0).verdict !== 'safe'))
  const rows = Object.entries(cloaks).flatMap(([kind, all]) =>
    all.map((cloak) => {
      const reports = scanAll(lexical, cloak)
      const flagged = toShare(reports.map(({ verdict }) => verdict !== 'safe'))
      const row = {
        flagged: flagged.toFixed(3),
        dangerous: toShare(reports.map(({ verdict }) => verdict === 'dangerous')).toFixed(3),
        'not inspected': toShare(reports.map(({ cut }) => cut.length > 0)).toFixed(3),
        'benign flagged': toShare(scanAll(benign, cloak).map(({ verdict }) => verdict !== 'safe')).toFixed(3),
        missed: flagged < plain - lossMax ? 'yes' : '',
      }
      return [`${kind}: ${cloak.name}`, row] as const
    }),
  )
  console.log(`\nCloaks on ${lexical.length} lexical samples, of which ${plain.toFixed(3)} are flagged without`)
  console.table(Object.fromEntries(rows))
  console.log('\nThe same three orders in other languages')
  const languages = Object.entries(elsewhere).map(([language, orders]) => [language, toVerdicts(orders)])
  console.table(Object.fromEntries(languages))
}

function toVerdicts(orders: Readonly<Record<string, string>>) {
  const verdicts = Object.entries(orders).map(([name, text]) => [
    name,
    scanFiles([{ path: 'SKILL.md', text }], 0).verdict,
  ])
  return Object.fromEntries(verdicts) as Record<string, string>
}

function scanAll(samples: readonly Sample[], cloak: Cloak) {
  return samples.map((sample, index) => scanFiles(cloak.apply(sample.files, seededRandom(index + 1)), 0))
}

function toShare(hits: readonly boolean[]): number {
  return hits.filter(Boolean).length / hits.length
}
