import { limits, verdictWords, type Security } from '@skillstead/protocol'
import { isUnreadable } from '@skillstead/skill-format/archives'
import type { AddedRules } from '../rules/added-rules.ts'
import { createBaselineWriter, readBaseline, type Baseline, type BaselineWriter } from './baseline.ts'
import type { ScanIo } from './io.ts'
import { openAll, type OpenPlace } from './open-all.ts'
import type { SarifFile } from './sarif-file.ts'
import { readLimited } from './read-limited.ts'
import { createScanOutput, type ScanOutput } from './scan-output.ts'
import type { Sample } from './sample.ts'
import type { ScanRequest } from './scan-options.ts'
import { scanSample } from './scan-sample.ts'
import { watchSkills } from './watch.ts'

/** The numbers of scanned skills, of those that could not be read, and of those that `failOn` rejects. */
export interface ScanTotals {
  readonly samples: number
  readonly unreadable: number
  readonly failing: number
}

/**
 * Scans skills and prints each report as soon as it is known. What cannot be read is printed to standard error, and the
 * others are scanned. With `isWatching` it ends when it is interrupted. Throws if a file of the request (the baseline,
 * the SARIF file, the rules) cannot be read or written, and for rules that another key signed.
 */
export async function runScan(request: ScanRequest, io: ScanIo, openPlace?: OpenPlace): Promise<ScanTotals> {
  const output = createScanOutput(io, request.json)
  const added = await readRulesFile(request)
  const sinks = await openSinks(request, output, added)
  const scan = (sample: Sample) => scanSample(sample, request, { output, baseline: sinks.baseline, added })
  const totals = { samples: 0, unreadable: 0, failing: 0, safe: 0, caution: 0, dangerous: 0 }
  if (request.isWatching) {
    await watchSkills(request.places, io, output, scan)
    return totals
  }
  for await (const sample of openAll(request, { stdin: io.stdin, onNote: output.note }, openPlace)) {
    if (isUnreadable(sample)) {
      totals.unreadable += 1
      output.fail(sample.id, sample.reason)
      sinks.sarif?.addUnreadable(sample)
      continue
    }
    const report = await scan(sample)
    sinks.sarif?.add(sample, report)
    sinks.written?.add(sample, report)
    totals.samples += 1
    totals[report.verdict] += 1
    if (isFailing(report.verdict, request.failOn)) totals.failing += 1
    output.progress(totals.samples)
  }
  sinks.sarif?.end()
  sinks.written?.write()
  const { samples, safe, caution, dangerous } = totals
  if (samples > 1 && !request.json && request.sarif !== '-')
    output.print(`${samples} skills: ${safe} with ${verdictWords.safe}, ${caution} caution, ${dangerous} dangerous`)
  for (const { file, rule } of sinks.baseline?.listUnused() ?? [])
    output.note(file, `the baseline lists a finding of ${rule} that is no longer there.`)
  return totals
}

interface Sinks {
  readonly baseline?: Baseline
  readonly written?: BaselineWriter
  readonly sarif?: SarifFile
}

/** Opens the files of a request before the scan, so that a wrong path fails at once. */
async function openSinks(
  { baseline, writeBaseline, reason, sarif }: ScanRequest,
  output: ScanOutput,
  added: AddedRules | undefined,
): Promise<Sinks> {
  const { openSarifFile } = sarif === undefined ? {} : await import('./sarif-file.ts')
  return {
    baseline: baseline === undefined ? undefined : readBaseline(baseline),
    written: writeBaseline === undefined ? undefined : createBaselineWriter(writeBaseline, reason!),
    sarif: sarif === undefined ? undefined : openSarifFile!(sarif, output, added),
  }
}

function isFailing(verdict: Security['verdict'], failOn: ScanRequest['failOn']): boolean {
  return failOn !== undefined && (verdict === 'dangerous' || verdict === failOn)
}

/** Reads and verifies the bundle of rules of a request. Throws an error that names the file and what is wrong. */
async function readRulesFile({ rules, rulesKey }: ScanRequest): Promise<AddedRules | undefined> {
  if (rules === undefined || rulesKey === undefined) return undefined
  const read = await readLimited(rules, limits.fileBytesMax)
  if ('unread' in read) throw new Error(`The rules in ${rules} cannot be read. ${read.unread}`)
  const { verifyBundle } = await import('../bundle.ts')
  try {
    return await verifyBundle(new TextDecoder().decode(read.bytes), [rulesKey])
  } catch (cause) {
    throw new Error(`The rules in ${rules} cannot be used. ${(cause as Error).message}`, { cause })
  }
}
