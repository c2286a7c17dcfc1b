import { RegistryError, type DmcaCase, toTimestamp } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import type { StorageContext } from '../storage/storage-context.ts'
import type { CatalogueContext } from '../catalogue/context/catalogue-context.ts'
import { getMovedSkill } from '../catalogue/skills/find-skill.ts'
import { TakenDown } from '../visibility/decisions.ts'
import { hasRight } from '../visibility/rights.ts'
import { type Caller, guest } from '../kernel/caller.ts'
import { newId } from '../kernel/ids.ts'
import type { Operation } from '../kernel/operation-input.ts'
import { createToken, isTokenOf } from '../kernel/tokens.ts'
import { countRows } from '../storage/count-rows.ts'
import { type DmcaCaseRow, type Tables, parseJson, type DmcaStatus } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { GovernanceContext } from './governance-context.ts'
import type { CallOptions } from '../kernel/call-options.ts'
import { readPage } from '../storage/read-page.ts'
import { UTCDateMini } from '@date-fns/utc/date/mini'
import { addBusinessDays } from 'date-fns/addBusinessDays'
import { refreshSkill } from '../catalogue/skills/refresh-skill.ts'
import { updateSkillState } from '../catalogue/skills/skill-rows.ts'
import { hourMs, minuteMs } from '../kernel/clock.ts'
import { recordAudit } from '../log/audit.ts'

/**
 * POST /dmca: submits a takedown claim about a skill that the caller may see. The case token is shown only in this
 * response.
 */
export const submitDmca: Operation<'submitDmca', GovernanceContext> = async (context, input, caller, options = {}) => {
  const { skillName, ...notice } = input
  const skillId = await findClaimedSkill(context, skillName, caller)
  await context.addressLimits.require('takedown', options.address)
  const { token, hash } = createToken('sct')
  const row: DmcaCaseRow = {
    id: newId(),
    skill_id: skillId,
    status: 'submitted',
    notice: JSON.stringify(notice),
    token_hash: hash,
    counter_notice_until: null,
    submitted_at: context.clock.now(),
  }
  await context.database.writer.write(async (trx) => {
    const { state } = await trx.selectFrom('skills').select('state').where('id', '=', skillId).executeTakeFirstOrThrow()
    if (state === 'withdrawn') throw new RegistryError('not_found', `There is no skill '${skillName}' any more.`)
    await trx.insertInto('dmca_cases').values(row).execute()
    await recordStep(trx, { caseId: row.id, status: row.status, at: row.submitted_at })
  })
  return { ...(await toFullCase(context.database.read, row)), caseToken: token }
}

/**
 * The id of the skill that a claim names. A skill that is already taken down can also be claimed by another claimant.
 */
async function findClaimedSkill(context: StorageContext, ref: string, caller: Caller): Promise<string> {
  try {
    return (await getMovedSkill(context, ref, caller)).id
  } catch (error) {
    if (error instanceof TakenDown) return error.skillId
    throw error
  }
}

/** The maximum number of unconfirmed counter-notices of a case. */
const unconfirmedMax = 20

/**
 * POST /dmca/<id>/counter-notice. Sent with a key of the skill's owner and the scope `manage`, a counter-notice changes
 * the status of the case. Sent without such a key, it is stored until an administrator confirms its sender, so that no
 * one can impersonate the owner. Several counter-notices are stored, so that no one can block the owner's
 * counter-notice by sending one first. Throws `invalid_transition` unless the case is `removed`.
 */
export const submitCounterNotice: Operation<'submitCounterNotice', GovernanceContext> = async (
  context,
  input,
  caller,
  options = {},
) => {
  const { id, ...notice } = input
  const known = await getCase(context.database.read, id)
  requireCaseTransition(known.status, 'counter_noticed', 'owner')
  if (!(await isFromOwner(context.database.read, known, caller)))
    await context.addressLimits.require('takedown', options.address, id)
  const row = await context.database.writer.write(async (trx) => {
    const before = await getCase(trx, id)
    requireCaseTransition(before.status, 'counter_noticed', 'owner')
    const confirmed = await isFromOwner(trx, before, caller)
    if (!confirmed) await refuseTooManyUnconfirmed(trx, id)
    const answer = { id: newId(), case_id: id, notice: JSON.stringify(notice), sent_at: context.clock.now() }
    await trx
      .insertInto('dmca_counter_notices')
      .values({ ...answer, confirmed: 0 })
      .execute()
    return confirmed ? acceptCounterNotice(context, trx, before, { id: answer.id, by: 'owner', caller }) : before
  })
  return toPublicCase(context.database.read, row)
}

/**
 * Accepts a counter-notice as the owner's, and changes the status of the case. Deletes the other counter-notices, which
 * other people sent.
 */
async function acceptCounterNotice(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: DmcaCaseRow,
  accepted: { id: string; by: 'owner' | 'administrator'; caller: Caller; note?: string },
): Promise<DmcaCaseRow> {
  const { id, ...move } = accepted
  await trx.updateTable('dmca_counter_notices').set({ confirmed: 1 }).where('id', '=', id).execute()
  await trx.deleteFrom('dmca_counter_notices').where('case_id', '=', before.id).where('id', '!=', id).execute()
  return moveCase(context, trx, before, { to: 'counter_noticed', ...move })
}

/**
 * Whether the caller may manage the claimed skill and sent a key with the scope `manage`. The current owner counts: the
 * skill may have been transferred between the claim and the counter-notice.
 */
async function isFromOwner(db: Kysely<Tables>, row: DmcaCaseRow, caller: Caller): Promise<boolean> {
  if (caller.kind === 'guest' || !caller.scopes.includes('manage')) return false
  const skill = await db
    .selectFrom('skills')
    .select(['id', 'owner_id'])
    .where('id', '=', row.skill_id)
    .executeTakeFirstOrThrow()
  return hasRight(db, skill, caller, 'manage')
}

async function refuseTooManyUnconfirmed(trx: WriteTransaction, caseId: string): Promise<void> {
  const count = await countRows(trx.selectFrom('dmca_counter_notices').where('case_id', '=', caseId))
  if (count >= unconfirmedMax)
    throw new RegistryError(
      'conflict',
      'Too many counter-notices of this case are unconfirmed. Send yours with an API key of the owner.',
    )
}

/**
 * PATCH /dmca/<id>, for administrators: starts the review of a case, rejects it, removes the content, confirms the
 * sender of a counter-notice, or records a court action. Throws `invalid_transition`.
 */
export const decideCase: Operation<'updateDmca', CatalogueContext> = async (context, input, caller) => {
  const row = await context.database.writer.write(async (trx) => {
    const before = await getCase(trx, input.id)
    requireCaseTransition(before.status, input.status, 'administrator')
    const move = { by: 'administrator', caller, note: input.note } as const
    if (input.status !== 'counter_noticed') return moveCase(context, trx, before, { to: input.status, ...move })
    const id = await getUnconfirmed(trx, before, input.counterNoticeId)
    return acceptCounterNotice(context, trx, before, { id, ...move })
  })
  return toFullCase(context.database.read, row)
}

/**
 * The id of the unconfirmed counter-notice that an administrator named. The id may be omitted if the case has only one.
 * With several, it is required, because a counter-notice may have arrived after the administrator read the case.
 */
async function getUnconfirmed(trx: WriteTransaction, row: DmcaCaseRow, wanted: string | undefined): Promise<string> {
  const waiting = await trx.selectFrom('dmca_counter_notices').select('id').where('case_id', '=', row.id).execute()
  if (waiting.length === 0)
    throw new RegistryError('invalid_transition', 'This case has no unconfirmed counter-notice.')
  if (wanted === undefined && waiting.length > 1)
    throw new RegistryError('conflict', 'This case has several unconfirmed counter-notices. Specify `counterNoticeId`.')
  const found = wanted === undefined ? waiting[0] : waiting.find(({ id }) => id === wanted)
  if (!found) throw new RegistryError('not_found', 'This case has no counter-notice with this id.')
  return found.id
}

/** GET /dmca/<id>: the status and dates. With the case token, and for administrators, the full case. */
export const showCase: Operation<'getDmca', StorageContext> = async (context, input, caller, options = {}) => {
  const row = await getCase(context.database.read, input.id)
  return mayReadFullCase(row, caller, options)
    ? toFullCase(context.database.read, row)
    : toPublicCase(context.database.read, row)
}

/** GET /dmca, for administrators: a page of takedown cases, newest first. */
export const listCases: Operation<'listDmca', StorageContext> = async (context, input) => {
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
async function toPublicCase(db: Kysely<Tables>, row: DmcaCaseRow): Promise<DmcaCase> {
  const history = await readCaseHistory(db, [row.id])
  return { ...toCaseDates(row), history: (history.get(row.id) ?? []).map(({ status, at }) => ({ status, at })) }
}

/** Like {@link toFullCases}, for one case. */
async function toFullCase(db: Kysely<Tables>, row: DmcaCaseRow): Promise<DmcaCase> {
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

function groupByCase<Row extends { case_id: string }, Form>(rows: readonly Row[], toForm: (row: Row) => Form) {
  const groups = Map.groupBy(rows, ({ case_id }) => case_id)
  return new Map([...groups].map(([id, all]) => [id, all.map(toForm)]))
}

/** The outbox topic of cases whose deadline expires. */
const restoreTopic = 'dmca.restore'

/**
 * The claimant's time to file a court action after a counter-notice (17 U.S.C. 512(g)(2)(C): 10 to 14 business days).
 */
const businessDays = 10

/**
 * Changes the status of a case, and hides or restores its skill, within a transaction. Throws `invalid_transition`.
 * Returns the current row.
 */
async function moveCase(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: DmcaCaseRow,
  move: { to: DmcaStatus; by: CaseMover; caller: Caller; note?: string },
): Promise<DmcaCaseRow> {
  const { to, by, caller, note } = move
  requireCaseTransition(before.status, to, by)
  const at = context.clock.now()
  const change = { status: to, ...(to === 'counter_noticed' && { counter_notice_until: toDeadline(at) }) }
  const after = { ...before, ...change }
  await trx.updateTable('dmca_cases').set(change).where('id', '=', before.id).execute()
  await recordStep(trx, { caseId: before.id, status: to, at, note })
  // Record only ids: the audit log contains no claimant's name and no text of a notice.
  await recordAudit(trx, { caller, action: `dmca.${to}`, subject: before.id, at, data: { skill: before.skill_id } })
  if (to === 'counter_noticed') {
    const job = { topic: restoreTopic, payload: { caseId: before.id }, dueAt: after.counter_notice_until! }
    await context.outbox.enqueue(trx, job)
  }
  await applyCaseToSkill(context, trx, before.skill_id, at)
  return after
}

/** Adds a step to the history of a case. */
async function recordStep(
  trx: WriteTransaction,
  { caseId, status, at, note = '' }: { caseId: string; status: DmcaStatus; at: number; note?: string | undefined },
): Promise<void> {
  await trx.insertInto('dmca_history').values({ id: newId(), case_id: caseId, status, at, note }).execute()
}

/** The time ten business days later, at the same time of day in UTC. Holidays are not considered. */
function toDeadline(at: number): number {
  return addBusinessDays(new UTCDateMini(at), businessDays).getTime()
}

/**
 * Updates the state of a skill after the status of one of its cases changed. This applies also to a transferred or
 * deleted skill: the case continues, and a deleted skill stays deleted.
 */
async function applyCaseToSkill(context: CatalogueContext, trx: WriteTransaction, skillId: string, at: number) {
  const before = await trx.selectFrom('skills').selectAll().where('id', '=', skillId).executeTakeFirstOrThrow()
  if (!(await updateSkillState(trx, before))) return
  await refreshSkill(context, trx, { skillId, before, cause: { type: 'skill' }, at })
}

/** The case with an id; throws `not_found`. */
async function getCase(db: Kysely<Tables>, id: string): Promise<DmcaCaseRow> {
  const found = await db.selectFrom('dmca_cases').selectAll().where('id', '=', id).executeTakeFirst()
  if (!found) throw new RegistryError('not_found', 'There is no takedown case with this id.')
  return found
}

/**
 * Who changes the status of a case: an administrator, the skill's owner with a counter-notice, or an expired deadline.
 */
type CaseMover = 'administrator' | 'owner' | 'time'

/** All allowed transitions of a case (docs/api.md#takedowns). Other transitions are refused. */
const caseTransitions: readonly { from: DmcaStatus; to: DmcaStatus; by: CaseMover }[] = [
  { from: 'submitted', to: 'under_review', by: 'administrator' },
  { from: 'submitted', to: 'rejected', by: 'administrator' },
  { from: 'submitted', to: 'removed', by: 'administrator' },
  { from: 'under_review', to: 'rejected', by: 'administrator' },
  { from: 'under_review', to: 'removed', by: 'administrator' },
  { from: 'removed', to: 'counter_noticed', by: 'owner' },
  // The administrator confirms the sender of a counter-notice that was sent without the owner's key.
  { from: 'removed', to: 'counter_noticed', by: 'administrator' },
  { from: 'counter_noticed', to: 'upheld', by: 'administrator' },
  { from: 'counter_noticed', to: 'restored', by: 'time' },
]

/** Throws `invalid_transition`, which lists the allowed transitions, unless the given transition is allowed. */
function requireCaseTransition(from: DmcaStatus, to: DmcaStatus, by: CaseMover): void {
  const open = caseTransitions.filter((row) => row.from === from && row.by === by).map((row) => row.to)
  if (open.includes(to)) return
  const ways = open.length === 0 ? 'No further decision is possible.' : `It may become: ${open.join(', ')}.`
  throw new RegistryError('invalid_transition', `This case is ${from} and cannot become ${to}. ${ways}`)
}

/** Retries for a week, since nothing else restores a case. */
const retryDelaysMs = [minuteMs, 5 * minuteMs, ...Array<number>(7 * 24).fill(hourMs)]

/**
 * Restores the content of cases whose deadline expired without a court action; each deadline is a job in the outbox.
 */
export function scheduleTakedowns(context: CatalogueContext): void {
  context.outbox.handle(restoreTopic, {
    retryDelaysMs,
    hasDeadlines: true,
    handle: ({ caseId }) => restoreExpiredCase(context, String(caseId)),
  })
}

/**
 * Restores the content of a case whose deadline expired. Does nothing if a court action was recorded meanwhile, or if
 * another run has already restored the case.
 */
async function restoreExpiredCase(context: CatalogueContext, caseId: string): Promise<void> {
  await context.database.writer.write(async (trx) => {
    const row = await trx.selectFrom('dmca_cases').selectAll().where('id', '=', caseId).executeTakeFirst()
    if (row?.status !== 'counter_noticed') return
    // The job runs too early, because of another node's clock or because this clock was set back. Throw, so that it is
    // retried.
    if (context.clock.now() < row.counter_notice_until!)
      throw new Error('The deadline of this case has not expired yet by the clock of this node. The job is retried.')
    await moveCase(context, trx, row, { to: 'restored', by: 'time', caller: guest })
  })
}
