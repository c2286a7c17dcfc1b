import { parseJson } from '../storage/tables.ts'
import { toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { readPage } from '../storage/read-page.ts'

/** GET /audit, for administrators: newest first. */
export async function listAudit(context: StorageContext, input: Input<'listAudit'>) {
  const { action, actor } = input
  const matching = context.database.read
    .selectFrom('audit')
    .$if(action !== undefined, (select) => select.where('action', '=', action!))
    .$if(actor !== undefined, (select) => select.where('actor', '=', actor!))
  const { rows, paging } = await readPage(matching, matching.selectAll().orderBy('id', 'desc'), input)
  const entries = rows.map((row) => ({
    id: row.id,
    at: toTimestamp(row.at),
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    data: parseJson(row.data),
  }))
  return { entries, ...paging }
}
