import { limits, toErrorText, verdictWords, type Security } from '@skillstead/protocol'
import { isUnreadable } from '@skillstead/skill-format/archives'
import type { AddedRules } from '../rules/added-rules.ts'
import { scanPackage } from '../threads/scan-package.ts'
import { createBaselineWriter, readBaseline } from './baseline.ts'
import { readLimited } from './read-limited.ts'
import type { Sample } from '../report/sample.ts'
import { openAll, type OpenPlace } from './samples.ts'
import type { ScanRequest } from './scan-options.ts'
import { createScanOutput, type ScanIo } from './scan-output.ts'
import { watchSkills } from './watch.ts'

/** The numbers of scanned skills, of those that could not be read, and of those that `fail-on` rejects. */
export interface ScanTotals {
  readonly samples: number
  readonly unreadable: number
  readonly failing: number
}

/**
 * Scans skills and prints each report as soon as it is known. If a skill cannot be read, prints the reason to standard
 * error and continues. With `watch` the scan runs until interrupted. Throws if a file of the request (the baseline, the
 * SARIF file, the rules) cannot be read or written, and for rules that another key signed.
 */
export async function runScan(request: ScanRequest, io: ScanIo, openPlace?: OpenPlace): Promise<ScanTotals> {
  const { json, sarif: sarifFile, 'fail-on': failOn, 'write-baseline': writeBaseline } = request
  const output = createScanOutput(io, json)
  // The files of the request are opened before the scan, so that a wrong path fails at once.
  const added = await readRulesFile(request)
  const baseline = request.baseline === undefined ? undefined : readBaseline(request.baseline)
  const written = writeBaseline === undefined ? undefined : createBaselineWriter(writeBaseline, request.reason!)
  const { openSarifFile } = sarifFile === undefined ? {} : await import('../report/sarif-file.ts')
  const sarif = openSarifFile?.(sarifFile!, output.printJson, added)
  const isText = !json && sarifFile !== '-'

  /** Scans a skill and prints its report, without the known findings of the baseline. Returns the printed report. */
  async function scan(sample: Sample): Promise<Security> {
    const whole = await scanPackage(sample.files, Date.now(), added)
    const { report, known } = baseline?.apply(sample, whole) ?? { report: whole, known: undefined }
    const { score, verdict, risk, findings, cut, rulesVersion } = report
    if (json)
      output.printJson(JSON.stringify({ id: sample.id, score, verdict, risk, findings, cut, rulesVersion, known }))
    if (!isText) return report
    const { toScanLines } = await import('../report/report-lines.ts')
    for (const line of toScanLines(sample.id, report, added)) output.print(line)
    if (known) output.print({ style: 'faint', text: `  ${known} known in the baseline` })
    return report
  }

  const totals = { samples: 0, unreadable: 0, failing: 0, safe: 0, caution: 0, dangerous: 0 }
  if (request.watch) {
    await watchSkills(request.places, io, output, scan)
    return totals
  }
  for await (const sample of openAll(request, { stdin: io.stdin, onNote: output.note }, openPlace)) {
    if (isUnreadable(sample)) {
      totals.unreadable += 1
      output.fail(sample.id, sample.reason)
      sarif?.addUnreadable(sample)
      continue
    }
    const report = await scan(sample)
    sarif?.add(sample, report)
    written?.add(sample, report)
    totals.samples += 1
    totals[report.verdict] += 1
    if (failOn !== undefined && (report.verdict === 'dangerous' || report.verdict === failOn)) totals.failing += 1
    output.progress(totals.samples)
  }
  sarif?.end()
  written?.write()
  const { samples, safe, caution, dangerous } = totals
  if (samples > 1 && isText)
    output.print(`${samples} skills: ${safe} with ${verdictWords.safe}, ${caution} caution, ${dangerous} dangerous`)
  for (const { file, rule } of baseline?.listUnused() ?? [])
    output.note(file, `the baseline lists a finding of ${rule} that is no longer there.`)
  return totals
}

/** Reads and verifies the bundle of rules of a request. Throws an error that names the file and what is wrong. */
async function readRulesFile({ rules, 'rules-key': rulesKey }: ScanRequest): Promise<AddedRules | undefined> {
  if (rules === undefined || rulesKey === undefined) return undefined
  const read = await readLimited(rules, limits.fileBytesMax)
  if ('unread' in read) throw new Error(`The rules in ${rules} cannot be read. ${read.unread}`)
  const { verifyBundle } = await import('../bundle.ts')
  try {
    return await verifyBundle(new TextDecoder().decode(read.bytes), [rulesKey])
  } catch (cause) {
    throw new Error(`The rules in ${rules} cannot be used. ${toErrorText(cause)}`, { cause })
  }
}
