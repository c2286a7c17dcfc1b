import { type Report, toTimestamp } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ReportRow } from '../storage/rows-trust.ts'
import type { Tables } from '../storage/tables.ts'

/** A report with the present name of its skill, and who reported. */
export interface NamedReport extends ReportRow {
  readonly full_name: string
  readonly username: string | null
}

/** The reports and appeals, to be narrowed down. */
export function selectReports(
  db: Kysely<Tables>,
): SelectQueryBuilder<Tables, 'reports' | 'skills' | 'users', NamedReport> {
  return db
    .selectFrom('reports')
    .innerJoin('skills', 'skills.id', 'reports.skill_id')
    .leftJoin('users', 'users.id', 'reports.reporter_id')
    .selectAll('reports')
    .select(['skills.full_name', 'users.username'])
}

/** A report as administrators see it; of an appeal there is nothing that its author does not know. */
export function toReport(row: NamedReport): Report {
  return {
    id: row.id,
    kind: row.kind,
    skill: { fullName: row.full_name },
    reason: row.reason,
    details: row.details,
    reporter: row.username === null ? null : { username: row.username },
    status: row.status,
    note: row.note,
    createdAt: toTimestamp(row.created_at),
    decidedAt: row.decided_at === null ? null : toTimestamp(row.decided_at),
  }
}
