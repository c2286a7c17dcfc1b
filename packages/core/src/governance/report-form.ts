import { type Report, toTimestamp } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import type { ReportRow, Tables } from '../storage/tables.ts'

/** A report with the current name of its skill and its author. */
export interface NamedReport extends ReportRow {
  readonly full_name: string
  readonly username: string | null
}

/** Reports and appeals, as a query to filter. */
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

/** A report as administrators see it. For an appeal, all of it is known to its author. */
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
