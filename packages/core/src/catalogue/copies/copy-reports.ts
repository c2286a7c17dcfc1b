import { type CopyReport, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../../storage/storage-context.ts'
import { type Caller, requireAccount } from '../../kernel/caller.ts'
import { invalidField } from '../../kernel/field-errors.ts'
import { newId } from '../../kernel/ids.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { recordAudit } from '../../log/audit.ts'
import { readPage } from '../../storage/read-page.ts'
import { hasRow } from '../../storage/table-rows.ts'
import type { CopyReportRow, SkillRow, Tables } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { readLatestSkillMd } from './copy-candidates.ts'
import { getMovedSkill, getSkill, getSkillNow } from '../skills/find-skill.ts'
import { comparerWith } from '../sketches/similarity.ts'
import { canSee } from '../../visibility/decisions.ts'

/** POST /skills/<name>/report-copy: stores a report, with the similarity, for administrators to decide. */
export const reportCopy: Operation<'reportCopy', CatalogueContext> = async (context, input, caller) => {
  const { userId } = requireAccount(caller)
  const skill = await getSkill(context, input.name, caller)
  const original = await getOriginal(context, input.originalSkillId, caller)
  if (original.id === skill.id) {
    const advice = `names ${skill.full_name} itself; name the skill that it was copied from.`
    throw invalidField('originalSkillId', advice)
  }
  const [copy, source] = [await readLatestSkillMd(context, skill), await readLatestSkillMd(context, original)]
  const { similarity } = comparerWith(copy)(source)
  const row = await context.database.writer.write(async (trx) => {
    for (const found of [skill, original]) await getSkillNow(context, trx, found, caller)
    const pair = { skill_id: skill.id, original_skill_id: original.id, reporter_id: userId }
    if (await hasRow(trx, 'copy_reports', { ...pair, status: 'open' }))
      throw new RegistryError('conflict', 'You have already reported this copy. Wait for the decision.')
    const report: CopyReportRow = {
      ...pair,
      id: newId(),
      status: 'open',
      similarity,
      evidence: input.evidence,
      note: '',
      created_at: context.clock.now(),
    }
    await trx.insertInto('copy_reports').values(report).execute()
    return report
  })
  return toCopyReport(row)
}

/** Finds the original skill by its id, else by its name: a name may look like an id. */
async function getOriginal(context: StorageContext, ref: string, caller: Caller): Promise<SkillRow> {
  const skill = await context.database.read.selectFrom('skills').selectAll().where('id', '=', ref).executeTakeFirst()
  return skill && (await canSee(context, skill, caller)) ? skill : getMovedSkill(context, ref, caller)
}

/** GET /copy-reports, for administrators: a page of reports, oldest first. */
export const listCopyReports: Operation<'listCopyReports', StorageContext> = async (context, input) => {
  const { status } = input
  const db = context.database.read
  const all = db.selectFrom('copy_reports').$if(status !== undefined, (select) => select.where('status', '=', status!))
  const sorted = selectNamedReports(db)
    .$if(status !== undefined, (select) => select.where('copy_reports.status', '=', status!))
    .orderBy('copy_reports.id')
  const { rows, paging } = await readPage(all, sorted, input)
  return { copyReports: rows.map(toNamedCopyReport), ...paging }
}

/** PATCH /copy-reports/<id>, for administrators: decides a report, once. The decision does not change the skill. */
export const decideCopyReport: Operation<'decideCopyReport', StorageContext> = async (context, input, caller) => {
  const { id, status, note } = input
  return context.database.writer.write(async (trx) => {
    const { full_name, original, ...report } = await getNamedReport(trx, id)
    if (report.status !== 'open')
      throw new RegistryError('invalid_transition', `This report is already ${report.status}, which is final.`)
    await trx.updateTable('copy_reports').set({ status, note }).where('id', '=', id).execute()
    const data = { id, original, note }
    await recordAudit(trx, { caller, action: `copy.${status}`, subject: full_name, at: context.clock.now(), data })
    return toCopyReport({ ...report, status, note })
  })
}

async function getNamedReport(trx: WriteTransaction, id: string) {
  const report = await selectNamedReports(trx).where('copy_reports.id', '=', id).executeTakeFirst()
  if (!report) throw new RegistryError('not_found', 'There is no copy report with this id.')
  return report
}

/** Copy reports with the full names of the reported skill and of the original. */
function selectNamedReports(db: Pick<Kysely<Tables>, 'selectFrom'>) {
  return db
    .selectFrom('copy_reports')
    .innerJoin('skills', 'skills.id', 'copy_reports.skill_id')
    .innerJoin('skills as originals', 'originals.id', 'copy_reports.original_skill_id')
    .selectAll('copy_reports')
    .select(['skills.full_name', 'originals.full_name as original'])
}

function toNamedCopyReport({
  full_name,
  original,
  ...report
}: CopyReportRow & { full_name: string; original: string }) {
  return { ...toCopyReport(report), skill: { fullName: full_name }, original: { fullName: original } }
}

/** The public form of a copy report, for its author and administrators. */
function toCopyReport(row: CopyReportRow): CopyReport {
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
