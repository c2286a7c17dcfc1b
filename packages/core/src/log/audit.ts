import { newId } from '../kernel/ids.ts'
import { compileInsert } from '../storage/compiled-query.ts'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** Records an actor and an action in the audit log, in the transaction of the action. */
export async function recordAudit(
  trx: WriteTransaction,
  entry: { caller: Caller; action: string; subject: string; at: number; data?: Record<string, unknown> },
): Promise<void> {
  const { caller, action, subject, at, data = {} } = entry
  await insertAudit(trx, {
    id: newId(),
    at,
    actor_id: callerId(caller),
    actor: caller.kind === 'user' ? caller.username : null,
    action,
    subject,
    data: JSON.stringify(data),
  })
}

const insertAudit = compileInsert('audit')
