import { RegistryError, type Report } from '@skillstead/protocol'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import { readPage } from '../storage/read-page.ts'
import type { ReportRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { changeModeration } from './moderation.ts'
import { selectReports, toAdministratorReport, type NamedReport } from './reports.ts'

/** The skill's state after a report or an appeal was upheld. */
const outcomes = { report: 'hidden', appeal: 'shown' } as const satisfies Record<ReportRow['kind'], string>

interface ReportVerdict {
  readonly id: string
  readonly status: 'upheld' | 'dismissed'
  readonly note: string
}

/** GET /reports, for administrators: oldest first. */
export async function listReports(context: StorageContext, input: Input<'listReports'>) {
  const { status, kind } = input
  const db = context.database.read
  const matching = db
    .selectFrom('reports')
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
    .$if(kind !== undefined, (select) => select.where('kind', '=', kind!))
  const sorted = selectReports(db)
    .$if(status !== undefined, (select) => select.where('reports.status', '=', status!))
    .$if(kind !== undefined, (select) => select.where('reports.kind', '=', kind!))
    .orderBy('reports.id')
  const { rows, paging } = await readPage(matching, sorted, input)
  return { reports: rows.map(toAdministratorReport), ...paging }
}

/** PATCH /reports/<id>, for administrators: decides a report, once. The skill changes in the same transaction. */
export async function decideReport(context: CatalogueContext, verdict: ReportVerdict, caller: Caller): Promise<Report> {
  const report = await getNamedReport(context, verdict.id)
  const decide = (trx: WriteTransaction) => closeReport(trx, report, verdict, caller, context.clock.now())
  if (verdict.status === 'dismissed') {
    await context.database.writer.write(decide)
  } else {
    const skills = context.database.read.selectFrom('skills').selectAll()
    const skill = await skills.where('id', '=', report.skill_id).executeTakeFirstOrThrow()
    const decision = { state: outcomes[report.kind], reason: verdict.note }
    await changeModeration(context, caller, skill, decision, decide)
  }
  return toAdministratorReport(await getNamedReport(context, verdict.id))
}

async function getNamedReport(context: StorageContext, id: string): Promise<NamedReport> {
  const report = await selectReports(context.database.read).where('reports.id', '=', id).executeTakeFirst()
  if (!report) throw new RegistryError('not_found', 'There is no report with this id.')
  return report
}

async function closeReport(
  trx: WriteTransaction,
  { kind, full_name }: NamedReport,
  { id, status, note }: ReportVerdict,
  caller: Caller,
  at: number,
): Promise<void> {
  const closed = await trx
    .updateTable('reports')
    .set({ status, note, decided_at: at })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning('id')
    .executeTakeFirst()
  if (!closed) throw new RegistryError('invalid_transition', `This ${kind} was already decided, which is final.`)
  await recordAudit(trx, { caller, action: `${kind}.${status}`, subject: full_name, at, data: { id, note } })
}
