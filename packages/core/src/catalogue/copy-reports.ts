import { RegistryError, type CopyReport } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { Kysely } from 'kysely'
import type { CopyReportRow } from '../storage/rows-trust.ts'
import type { Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { toCopyReport } from './copy-report-form.ts'

/** GET /copy-reports, for administrators: oldest first. */
export async function listCopyReports(
  context: CatalogueContext,
  input: { status?: CopyReportRow['status']; page: number; limit: number },
) {
  const { status, page, limit } = input
  const db = context.database.read
  const { count } = await db
    .selectFrom('copy_reports')
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const rows = await selectNamed(db)
    .$if(status !== undefined, (select) => select.where('copy_reports.status', '=', status!))
    .orderBy('copy_reports.id')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  return { copyReports: rows.map(toNamedCopyReport), ...toPage(count, page, limit) }
}

/** PATCH /copy-reports/<id>, for administrators, once per report. The decision does not change the skill. */
export async function decideCopyReport(
  context: CatalogueContext,
  input: { id: string; status: 'confirmed' | 'dismissed'; note: string },
  caller: Caller,
): Promise<CopyReport> {
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
  const report = await selectNamed(trx).where('copy_reports.id', '=', id).executeTakeFirst()
  if (!report) throw new RegistryError('not_found', 'There is no copy report with this id.')
  return report
}

/** Reports with the full names of both skills. */
function selectNamed(db: Pick<Kysely<Tables>, 'selectFrom'>) {
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
