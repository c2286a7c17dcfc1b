import * as v from 'valibot'
import { Count, Digest, Id, Timestamp } from './fields.ts'
import { Skill } from './skill.ts'

export const externalRegistries = ['skills.sh', 'github'] as const

/** A skill that another registry has. */
export const ExternalSkill = v.object({
  id: Id,
  name: v.string(),
  registry: v.picklist(externalRegistries),
  url: v.string(),
  repoUrl: v.string(),
  description: v.string(),
  author: v.string(),
  installs: Count,
  /** Whether a scan found it safe. */
  verified: v.boolean(),
  securityScore: v.nullable(v.number()),
  scannedAt: v.nullable(Timestamp),
  indexedAt: Timestamp,
})
export type ExternalSkill = v.InferOutput<typeof ExternalSkill>

const severities = ['critical', 'high', 'medium', 'low', 'info'] as const
const verdicts = ['safe', 'caution', 'dangerous'] as const

/** One thing that a scan found, at its place. Lines and columns begin at 1. */
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
})
export type ScanFinding = v.InferOutput<typeof ScanFinding>

export const ScanReport = v.object({
  score: v.pipe(v.number(), v.minValue(0), v.maxValue(100)),
  verdict: v.picklist(verdicts),
  findings: v.array(ScanFinding),
  rulesVersion: v.string(),
  digest: Digest,
  scannedAt: Timestamp,
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

export const periods = ['day', 'week', 'month'] as const

export const Trending = v.object({
  period: v.picklist(periods),
  entries: v.array(
    v.object({
      rank: v.pipe(v.number(), v.integer(), v.minValue(1)),
      skill: Skill,
      installs: Count,
      previousInstalls: Count,
      /** What came on top of the period before, as a share of it; of nothing, the installs themselves. */
      growth: v.number(),
      score: v.number(),
    }),
  ),
  total: Count,
})
export type Trending = v.InferOutput<typeof Trending>
