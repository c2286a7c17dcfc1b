import * as v from 'valibot'
import { Count, Id, Timestamp } from './fields.ts'
import { Skill } from './skill.ts'

export const externalRegistries = ['skills.sh', 'github'] as const

/** A skill of another registry. */
export const ExternalSkill = v.object({
  id: Id,
  name: v.string(),
  registry: v.picklist(externalRegistries),
  url: v.string(),
  repoUrl: v.string(),
  description: v.string(),
  author: v.string(),
  installs: Count,
  /** Whether the skill was scanned, whatever the verdict. */
  verified: v.boolean(),
  /** Result of the last scan; null before the first. */
  verdict: v.nullable(v.picklist(['safe', 'caution', 'dangerous'])),
  securityScore: v.nullable(v.number()),
  scannedAt: v.nullable(Timestamp),
  indexedAt: Timestamp,
})
export type ExternalSkill = v.InferOutput<typeof ExternalSkill>

export const periods = ['day', 'week', 'month'] as const

/** Skills with the most recent installs. */
export const Trending = v.object({
  period: v.picklist(periods),
  entries: v.array(
    v.object({
      rank: v.pipe(v.number(), v.integer(), v.minValue(1)),
      skill: Skill,
      installs: Count,
      previousInstalls: Count,
      /**
       * Increase over the previous period as a fraction of it; the number of installs if the previous period had none.
       */
      growth: v.number(),
      score: v.number(),
    }),
  ),
  total: Count,
})
export type Trending = v.InferOutput<typeof Trending>
