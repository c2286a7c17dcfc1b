import { toJsonLine, type Security } from '@skillstead/protocol'
import { scanPackage } from '../scan-package.ts'
import type { Baseline } from './baseline.ts'
import type { Sample } from './samples.ts'
import type { ScanOutput } from './scan-output.ts'
import type { ScanRequest } from './scan-options.ts'

/** Scans a skill and prints its report, without the known findings of a baseline. Returns that report. */
export async function scanSample(
  sample: Sample,
  { json, sarif }: Pick<ScanRequest, 'json' | 'sarif'>,
  output: ScanOutput,
  baseline: Baseline | undefined,
): Promise<Security> {
  const whole = await scanPackage(sample.files, Date.now())
  const { report, known } = baseline?.apply(sample, whole) ?? { report: whole, known: 0 }
  if (json) output.print(toLine(sample.id, report, baseline && known))
  else if (sarif !== '-') await printText(sample.id, report, known, output)
  return report
}

function toLine(id: string, report: Security, known: number | undefined): string {
  const { score, verdict, risk, findings, cut, rulesVersion } = report
  return toJsonLine({ id, score, verdict, risk, findings, cut, rulesVersion, known })
}

async function printText(id: string, report: Security, known: number, output: ScanOutput): Promise<void> {
  const { toScanLines } = await import('./report-lines.ts')
  for (const line of toScanLines(id, report)) output.print(line)
  if (known > 0) output.print({ style: 'faint', text: `  ${known} known in the baseline` })
}
