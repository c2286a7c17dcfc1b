import { type CopyReport, toTimestamp } from '@skillstead/protocol'
import type { CopyReportRow } from '../storage/rows-trust.ts'

/** The public form of a copy report, for its author and administrators. */
export function toCopyReport(row: CopyReportRow): CopyReport {
  return {
    id: row.id,
    skillId: row.skill_id,
    originalSkillId: row.original_skill_id,
    status: row.status,
    similarity: row.similarity,
    evidence: row.evidence,
    createdAt: toTimestamp(row.created_at),
  }
}
