import * as v from 'valibot'
import { Count, Digest, Timestamp } from './fields.ts'

/** How bad a finding is, worst first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
/** The verdicts of the scanner on a version. */
export const verdicts = ['safe', 'caution', 'dangerous'] as const
/** Verdicts in words for people: `safe` in the API only means that no rule found a sign of harm. */
export const verdictWords = { safe: 'no known sign of harm', caution: 'caution', dangerous: 'dangerous' } as const
/** The scores of each verdict, best first. */
export const scoreRanges: Readonly<Record<(typeof verdicts)[number], { most: number; least: number }>> = {
  safe: { most: 100, least: 80 },
  caution: { most: 79, least: 40 },
  dangerous: { most: 39, least: 0 },
}

/** The verdict of a scan with this score. */
export function toScoreVerdict(score: number): (typeof verdicts)[number] {
  return verdicts.find((verdict) => score >= scoreRanges[verdict].least) ?? 'dangerous'
}

/** How much access to a machine and its data a skill requests, whatever the skill does with that access. */
export const risks = ['none', 'low', 'medium', 'high'] as const

/**
 * The intent that a finding indicates. `hostile`: no innocent explanation; one such finding makes the verdict
 * `dangerous`. `suspicious`: needs review; two such findings of different categories make the verdict `dangerous`.
 * `power`: legitimate if the user asked for it; counts only for the risk. `none`: was examined and is not an
 * instruction.
 */
export const signals = ['hostile', 'suspicious', 'power', 'none'] as const

/** The purpose of a file, derived from its path and content. */
export const fileRoles = ['instruction', 'script', 'reference', 'test', 'vendored', 'data'] as const
/** The form of a passage: an instruction, a prohibition, a quotation, or an example. */
export const polarities = ['imperative', 'prohibition', 'quotation', 'example'] as const

/** A finding with its location. Lines and columns begin at 1; columns count UTF-16 code units. */
export const ScanFinding = v.object({
  ruleId: v.string(),
  category: v.string(),
  severity: v.picklist(severities),
  title: v.string(),
  path: v.string(),
  line: Count,
  column: Count,
  excerpt: v.string(),
  remediation: v.string(),
  signal: v.picklist(signals),
  context: v.object({ role: v.picklist(fileRoles), polarity: v.picklist(polarities) }),
  /**
   * The encodings that the scanner decoded to find the passage, outermost first: `base64`, `hex`, `url`, `tags`, ...
   */
  decoded: v.array(v.string()),
  /** The author's reason why the finding is harmless; it is displayed, and does not change a verdict of `dangerous`. */
  suppressed: v.nullable(v.object({ reason: v.string() })),
})
export type ScanFinding = v.InferOutput<typeof ScanFinding>

/** A path that was not scanned or not listed, and why. */
const ScanCut = v.object({ path: v.string(), reason: v.string() })

/** Scan result of a version, as displayed with it. */
export const Security = v.object({
  score: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  verdict: v.picklist(verdicts),
  risk: v.picklist(risks),
  findings: v.array(ScanFinding),
  cut: v.array(ScanCut),
  /** Version of the rules that were applied; a change of the rules causes a rescan. */
  rulesVersion: v.string(),
  scannedAt: Timestamp,
})
export type Security = v.InferOutput<typeof Security>

/** The result of a scan by URL or content. */
export const ScanReport = v.object({
  ...Security.entries,
  digest: Digest,
  /** The URL that was scanned, or the literal `content` if the request contained the content. */
  source: v.string(),
})
export type ScanReport = v.InferOutput<typeof ScanReport>

/** A log in the Static Analysis Results Interchange Format (OASIS SARIF 2.1.0). */
export const SarifLog = v.object({
  $schema: v.string(),
  version: v.literal('2.1.0'),
  runs: v.array(v.record(v.string(), v.unknown())),
})
export type SarifLog = v.InferOutput<typeof SarifLog>
