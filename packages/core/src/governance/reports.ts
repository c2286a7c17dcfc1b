import { type Report, toTimestamp } from '@skillstead/protocol'
import type { Kysely, SelectQueryBuilder } from 'kysely'
import { getSkill, getSkillNow } from '../catalogue/skills/find-skill.ts'
import { accountId } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Operation } from '../kernel/operation-input.ts'
import type { ReportRow, Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { GovernanceContext } from './governance-context.ts'

/**
 * POST /skills/<name>/report, for callers who may see the skill. A user who reports the skill again gets the open
 * report.
 */
export const reportSkill: Operation<'reportSkill', GovernanceContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  const found = await getSkill(context, input.name, caller)
  const reporterId = accountId(caller)
  if (reporterId === null) {
    await context.addressLimits.require('report', options.address, found.id)
    await context.addressLimits.require('reports', options.address)
  }
  const { id, created_at } = await context.database.writer.write(async (trx) => {
    const skill = await getSkillNow(context, trx, found, caller)
    const open = reporterId !== null && (await findOpenReport(trx, { kind: 'report', skillId: skill.id, reporterId }))
    if (open) return open
    const { reason, details } = input
    const row = { kind: 'report' as const, skill_id: skill.id, reason, details, reporter_id: reporterId }
    return insertReport(trx, row, context.clock.now())
  })
  return { id, status: 'open' as const, createdAt: toTimestamp(created_at) }
}

/** The open appeal about a skill, or a user's open report. */
export function findOpenReport(
  trx: WriteTransaction,
  of: { kind: ReportRow['kind']; skillId: string; reporterId?: string },
): Promise<ReportRow | undefined> {
  return trx
    .selectFrom('reports')
    .selectAll()
    .where('skill_id', '=', of.skillId)
    .where('kind', '=', of.kind)
    .where('status', '=', 'open')
    .$if(of.reporterId !== undefined, (select) => select.where('reporter_id', '=', of.reporterId!))
    .executeTakeFirst()
}

/** Stores a report or appeal for administrators to decide. */
export async function insertReport(
  trx: WriteTransaction,
  report: Pick<ReportRow, 'kind' | 'skill_id' | 'reason' | 'details' | 'reporter_id'>,
  now: number,
): Promise<ReportRow> {
  const row: ReportRow = { ...report, id: newId(), status: 'open', note: '', created_at: now, decided_at: null }
  await trx.insertInto('reports').values(row).execute()
  return row
}

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

/** A report as administrators see it. The author of an appeal may see all fields of it. */
export function toAdministratorReport(row: NamedReport): Report {
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
