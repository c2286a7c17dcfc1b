import type { Security } from '@skillstead/protocol'
import { scanPackage } from '../threads/scan-package.ts'
import type { AddedRules } from '../rules/added-rules.ts'
import type { Baseline } from './baseline.ts'
import type { Sample } from './sample.ts'
import type { ScanOutput } from './scan-output.ts'
import type { ScanRequest } from './scan-options.ts'

interface ScanParts {
  readonly output: ScanOutput
  readonly baseline: Baseline | undefined
  readonly added: AddedRules | undefined
}

/** Scans a skill and prints its report, without the known findings of a baseline. Returns that report. */
export async function scanSample(
  sample: Sample,
  { json, sarif }: Pick<ScanRequest, 'json' | 'sarif'>,
  { output, baseline, added }: ScanParts,
): Promise<Security> {
  const whole = await scanPackage(sample.files, Date.now(), added)
  const { report, known } = baseline?.apply(sample, whole) ?? { report: whole, known: 0 }
  if (json) output.printJson(toLine(sample.id, report, baseline && known))
  else if (sarif !== '-') await printText(sample.id, report, known, { output, added })
  return report
}

function toLine(id: string, report: Security, known: number | undefined): string {
  const { score, verdict, risk, findings, cut, rulesVersion } = report
  return JSON.stringify({ id, score, verdict, risk, findings, cut, rulesVersion, known })
}

async function printText(
  id: string,
  report: Security,
  known: number,
  { output, added }: Omit<ScanParts, 'baseline'>,
): Promise<void> {
  const { toScanLines } = await import('./report-lines.ts')
  for (const line of toScanLines(id, report, added)) output.print(line)
  if (known > 0) output.print({ style: 'faint', text: `  ${known} known in the baseline` })
}
