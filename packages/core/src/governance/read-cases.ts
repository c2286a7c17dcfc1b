import { type DmcaCase, RegistryError, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { isTokenOf } from '../kernel/tokens.ts'
import { readPage } from '../storage/read-page.ts'
import { parseJson, type DmcaCaseRow, type Tables } from '../storage/tables.ts'
import { getCase } from './takedown-cases.ts'

/** GET /dmca/<id>: the status and dates. With the case token, and for administrators, the full case. */
export async function showCase(
  context: StorageContext,
  input: Input<'getDmca'>,
  caller: Caller,
  options: CallOptions = {},
): Promise<DmcaCase> {
  const row = await getCase(context.database.read, input.id)
  return mayReadFullCase(row, caller, options)
    ? toFullCase(context.database.read, row)
    : toPublicCase(context.database.read, row)
}

/** GET /dmca, for administrators: newest first. */
export async function listCases(context: StorageContext, input: Input<'listDmca'>) {
  const { status } = input
  const matching = context.database.read
    .selectFrom('dmca_cases')
    .$if(status !== undefined, (select) => select.where('status', '=', status!))
  const { rows, paging } = await readPage(matching, matching.selectAll().orderBy('id', 'desc'), input)
  return { cases: await toFullCases(context.database.read, rows), ...paging }
}

function mayReadFullCase(row: DmcaCaseRow, caller: Caller, { caseToken }: CallOptions): boolean {
  if (caseToken !== undefined) {
    if (isTokenOf(row.token_hash, caseToken)) return true
    throw new RegistryError('forbidden', 'The token in X-Case-Token does not belong to this case.')
  }
  // Requires the same scope as the list of cases.
  return caller.kind === 'user' && caller.role === 'admin' && caller.scopes.includes('manage')
}

/** The public view of a case, for anyone who knows its id: status and dates, without names or texts. */
export async function toPublicCase(db: Kysely<Tables>, row: DmcaCaseRow): Promise<DmcaCase> {
  const history = await readCaseHistory(db, [row.id])
  return { ...toCaseDates(row), history: (history.get(row.id) ?? []).map(({ status, at }) => ({ status, at })) }
}

/** Like {@link toFullCases}, for one case. */
export async function toFullCase(db: Kysely<Tables>, row: DmcaCaseRow): Promise<DmcaCase> {
  const [full] = await toFullCases(db, [row])
  return full!
}

/** Cases as their parties and administrators see them. The number of queries does not depend on the number of cases. */
async function toFullCases(db: Kysely<Tables>, rows: readonly DmcaCaseRow[]): Promise<DmcaCase[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const [history, answers] = [await readCaseHistory(db, ids), await readCounterNotices(db, ids)]
  const names = await readNamesOfSkills(
    db,
    rows.map(({ skill_id }) => skill_id),
  )
  return rows.map((row) => ({
    ...toCaseDates(row),
    skill: { fullName: names.get(row.skill_id)! },
    history: history.get(row.id) ?? [],
    notice: parseJson(row.notice),
    counterNotices: answers.get(row.id) ?? [],
  }))
}

function toCaseDates(row: DmcaCaseRow) {
  const { id, status, submitted_at, counter_notice_until } = row
  const until = counter_notice_until === null ? {} : { counterNoticeUntil: toTimestamp(counter_notice_until) }
  return { id, status, submittedAt: toTimestamp(submitted_at), ...until }
}

async function readCaseHistory(db: Kysely<Tables>, caseIds: readonly string[]) {
  const rows = await db
    .selectFrom('dmca_history')
    .selectAll()
    .where('case_id', 'in', caseIds)
    .orderBy('at')
    .orderBy('id')
    .execute()
  return groupByCase(rows, ({ status, at, note }) => ({ status, at: toTimestamp(at), note }))
}

async function readCounterNotices(db: Kysely<Tables>, caseIds: readonly string[]) {
  const rows = await db
    .selectFrom('dmca_counter_notices')
    .selectAll()
    .where('case_id', 'in', caseIds)
    .orderBy('sent_at')
    .orderBy('id')
    .execute()
  return groupByCase(rows, ({ id, sent_at, confirmed, notice }) => ({
    id,
    sentAt: toTimestamp(sent_at),
    confirmed: confirmed === 1,
    ...parseJson(notice),
  }))
}

async function readNamesOfSkills(db: Kysely<Tables>, skillIds: readonly string[]): Promise<Map<string, string>> {
  const rows = await db.selectFrom('skills').select(['id', 'full_name']).where('id', 'in', skillIds).execute()
  return new Map(rows.map(({ id, full_name }) => [id, full_name]))
}

function groupByCase<Row extends { case_id: string }, Form>(
  rows: readonly Row[],
  toForm: (row: Row) => Form,
): Map<string, Form[]> {
  const groups = Map.groupBy(rows, ({ case_id }) => case_id)
  return new Map([...groups].map(([id, all]) => [id, all.map(toForm)]))
}
