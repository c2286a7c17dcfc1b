import { type ExternalSkill, toTimestamp } from '@skillstead/protocol'
import type { ExternalSkillRow } from '../storage/rows-usage.ts'

/** The public form of an indexed skill. */
export function toExternalSkill(row: ExternalSkillRow): ExternalSkill {
  return {
    id: row.id,
    name: row.name,
    registry: row.registry,
    url: row.url,
    repoUrl: row.repo_url,
    description: row.description,
    author: row.author,
    installs: row.installs,
    verified: row.verdict !== null,
    verdict: row.verdict,
    securityScore: row.security_score,
    scannedAt: row.scanned_at === null ? null : toTimestamp(row.scanned_at),
    indexedAt: toTimestamp(row.indexed_at),
  }
}
