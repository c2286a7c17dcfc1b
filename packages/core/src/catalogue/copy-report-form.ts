import { type CopyReport, toTimestamp } from '@skillstead/protocol'
import type { CopyReportRow } from '../storage/rows-trust.ts'

/** A report of a copy as its author and administrators see it. */
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
