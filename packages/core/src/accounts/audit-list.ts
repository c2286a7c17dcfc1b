import { toTimestamp } from '@skillstead/protocol'
import type { StorageContext } from '../storage/storage-context.ts'
import type { Input } from '../kernel/operation-input.ts'
import { countRows } from '../storage/count-rows.ts'
import { toOffset, toPage } from '../kernel/paging.ts'

/** GET /audit, for administrators: newest first. */
export async function listAudit(context: StorageContext, input: Input<'listAudit'>) {
  const { action, actor, page, limit } = input
  const matching = context.database.read
    .selectFrom('audit')
    .$if(action !== undefined, (select) => select.where('action', '=', action!))
    .$if(actor !== undefined, (select) => select.where('actor', '=', actor!))
  const count = await countRows(matching)
  const rows = await matching.selectAll().orderBy('id', 'desc').limit(limit).offset(toOffset(page, limit)).execute()
  const entries = rows.map((row) => ({
    id: row.id,
    at: toTimestamp(row.at),
    actor: row.actor,
    action: row.action,
    subject: row.subject,
    data: JSON.parse(row.data) as Record<string, unknown>,
  }))
  return { entries, ...toPage(count, page, limit) }
}
