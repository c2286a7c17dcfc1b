import * as v from 'valibot'
import { Count, Digest, Timestamp } from './fields.ts'

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
export const verdicts = ['safe', 'caution', 'dangerous'] as const
/** How much power over a machine and its data a skill asks for, whatever it does with it. */
export const risks = ['none', 'low', 'medium', 'high'] as const

/**
 * What a finding says of the author's intent: `hostile` cannot be innocent and makes the verdict `dangerous` alone,
 * `suspicious` calls for a look and makes it so together with another of its kind, `power` is legitimate where the user
 * asked for it and counts for the risk alone, `none` was looked at and is no instruction.
 */
export const signals = ['hostile', 'suspicious', 'power', 'none'] as const

/** What a file is for, as far as its place and its form tell. */
export const fileRoles = ['instruction', 'script', 'reference', 'test', 'vendored', 'data'] as const
/** How the passage speaks: it asks for something, forbids it, quotes it, or shows it as an example. */
export const polarities = ['imperative', 'prohibition', 'quotation', 'example'] as const

/** One thing that a scan found, at its place. Lines and columns begin at 1; columns count UTF-16 code units. */
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
  /** What was undone to see it, outermost first: `base64`, `hex`, `url`, `tags`, ... */
  decoded: v.array(v.string()),
  /** The author's reason why this is no harm; it is shown, and lowers nothing that is `dangerous`. */
  suppressed: v.nullable(v.object({ reason: v.string() })),
})
export type ScanFinding = v.InferOutput<typeof ScanFinding>

/** What was not looked at, or not listed, and why. */
const ScanCut = v.object({ path: v.string(), reason: v.string() })

/** What a scan of a version came to, as it is shown with the version. */
export const Security = v.object({
  score: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  verdict: v.picklist(verdicts),
  risk: v.picklist(risks),
  findings: v.array(ScanFinding),
  cut: v.array(ScanCut),
  /** Names the rules that were applied; reports of other rules are made again. */
  rulesVersion: v.string(),
  scannedAt: Timestamp,
})
export type Security = v.InferOutput<typeof Security>

export const ScanReport = v.object({
  ...Security.entries,
  digest: Digest,
  /** The address that was read, or `content`. */
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
