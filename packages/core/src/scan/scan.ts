import type { ScanReport } from '@skillstead/protocol'
import { toDigest } from '../blobs.ts'
import { toTimestamp } from '../clock.ts'
import { foldText } from './fold.ts'
import { findComments } from './match.ts'
import { RuleSearch } from './rule-search.ts'
import { rules, rulesVersion } from './rules.ts'
import { toScore, toVerdict } from './score.ts'

export interface ScanFile {
  readonly path: string
  readonly text: string
}

/**
 * Looks for what no skill should ask of an agent, offline and in linear time. Never throws, whatever the texts; `now` is
 * in milliseconds since 1970.
 */
export function scanFiles(files: readonly ScanFile[], now: number): Omit<ScanReport, 'digest' | 'source'> {
  const searches = rules.map((rule) => new RuleSearch(rule))
  const findings = files.flatMap((file) => scanFile(file, searches))
  const score = toScore(findings)
  return { score, verdict: toVerdict(score), findings, rulesVersion, scannedAt: toTimestamp(now) }
}

/** The whole report on one text; its digest is that of its UTF-8 bytes. */
export function scanText({ path, text }: ScanFile, source: string, now: number): ScanReport {
  return { ...scanFiles([{ path, text }], now), digest: toDigest(Buffer.from(text)), source }
}

function scanFile(file: ScanFile, searches: readonly RuleSearch[]) {
  const comments = findComments(file.text)
  for (const search of searches) search.begin(file, comments)
  const findings = []
  for (const folded of foldText(file.text)) {
    for (const search of searches) findings.push(...search.find(folded))
  }
  return findings.toSorted((a, b) => a.line - b.line || a.column - b.column)
}
