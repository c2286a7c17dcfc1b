import { type Content, toTimestamp } from '@skillstead/protocol'
import { sql, type Kysely } from 'kysely'
import { invalidField } from '../kernel/field-errors.ts'
import type { Input, Operation } from '../kernel/operation-input.ts'
import { isSliceOver, nextSlice } from '../kernel/time-slices.ts'
import { readPage } from '../storage/read-page.ts'
import type { StorageContext } from '../storage/storage-context.ts'
import { type AuditRow, parseJson, type Tables } from '../storage/tables.ts'

type Filters = Input<'exportAudit'>

/** GET /audit, for administrators: a page of the audit log, newest entry first. */
export const listAudit: Operation<'listAudit', StorageContext> = async ({ database }, input) => {
  const matching = selectAudit(database.read, input)
  const { rows, paging } = await readPage(matching, matching.selectAll().orderBy('seq', 'desc'), input)
  return { entries: rows.map(toAuditEntry), ...paging }
}

/** GET /audit/export, for administrators: one JSON line per entry in the order of commits, read page by page. */
export function exportAudit({ database }: StorageContext, input: Filters): Content {
  const matching = selectAudit(database.read, input)
  async function* toLines(): AsyncGenerator<Uint8Array> {
    for (let after = 0; ;) {
      if (isSliceOver()) await nextSlice()
      const rows = await matching.selectAll().where('seq', '>', after).orderBy('seq').limit(pageRows).execute()
      if (rows.length > 0) yield Buffer.from(rows.map((row) => `${JSON.stringify(toAuditEntry(row))}\n`).join(''))
      if (rows.length < pageRows) return
      after = rows.at(-1)!.seq
    }
  }
  return { contentType: 'application/x-ndjson; charset=utf-8', body: toLines(), filename: 'audit.ndjson' }
}

const pageRows = 500

function selectAudit(db: Kysely<Tables>, { action, actor, subject, since, until }: Filters) {
  const [from, to] = [toMoment('since', since), toMoment('until', until)]
  return db
    .selectFrom('audit')
    .$if(action !== undefined, (select) =>
      select.where(sql<boolean>`substr(action, 1, ${sql.lit([...action!].length)}) = ${action!}`),
    )
    .$if(actor !== undefined, (select) => select.where('actor', '=', actor!))
    .$if(subject !== undefined, (select) => select.where('subject', '=', subject!))
    .$if(from !== undefined, (select) => select.where('at', '>=', from!))
    .$if(to !== undefined, (select) => select.where('at', '<', to!))
}

function toMoment(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const moment = Date.parse(text)
  if (Number.isNaN(moment)) throw invalidField(field, 'must be a date or a time, such as 2026-11-28T12:00:00Z')
  return moment
}

/** The position of a reader that follows the audit log: the number and the id of the last entry that it has read. */
export interface AuditPosition {
  readonly seq: number
  readonly id: string
}

/** At most `limit` audit entries of all nodes and CLI commands after a position, oldest first. */
export async function readAuditAfter(
  { database }: Pick<StorageContext, 'database'>,
  { seq }: AuditPosition,
  limit: number,
) {
  const rows = await database.read
    .selectFrom('audit')
    .selectAll()
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute()
  return rows.map((row) => ({ position: { seq: row.seq, id: row.id }, entry: toAuditEntry(row) }))
}

/**
 * The position in this database from which a follower of the audit log resumes. If the entries have other numbers than
 * when the follower read them, as in a restored or imported database, the follower resumes after the entries that are
 * not newer than the last entry that it read. `end` means after the newest entry.
 */
export async function resumeAudit({ database }: Pick<StorageContext, 'database'>, last: AuditPosition | 'end') {
  const newest = database.read.selectFrom('audit').select(['seq', 'id']).orderBy('seq', 'desc').limit(1)
  if (last === 'end') return (await newest.executeTakeFirst()) ?? auditStart
  const same = await database.read.selectFrom('audit').select('id').where('seq', '=', last.seq).executeTakeFirst()
  if (same?.id === last.id) return last
  return (await newest.where('id', '<=', last.id).executeTakeFirst()) ?? auditStart
}

/** The position before the first entry. */
export const auditStart: AuditPosition = { seq: 0, id: '' }

function toAuditEntry(row: AuditRow) {
  return {
    id: row.id,
    at: toTimestamp(row.at),
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    data: parseJson(row.data),
  }
}
