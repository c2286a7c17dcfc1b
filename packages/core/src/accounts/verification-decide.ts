import { type ListedVerification, RegistryError } from '@skillstead/protocol'
import type { Caller } from '../kernel/caller.ts'
import type { Input } from '../kernel/operation-input.ts'
import { recordAudit } from '../log/audit.ts'
import type { VerificationRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { AccountsContext } from './accounts-context.ts'
import { type ProofMethod, toListedVerification } from './verification-form.ts'

type VerificationStatus = VerificationRow['status']
type VerificationDecision = 'verified' | 'rejected'

/**
 * Transitions that an administrator may make. An administrator can revoke a domain or a GitHub account, but not confirm
 * it.
 */
const decisions: Record<ProofMethod, Record<VerificationStatus, readonly VerificationDecision[]>> = {
  manual: { pending: ['verified', 'rejected'], verified: ['rejected'], rejected: ['verified'] },
  domain: { pending: [], verified: ['rejected'], rejected: [] },
  github: { pending: [], verified: ['rejected'], rejected: [] },
}

/** PATCH /verifications/<id>, for administrators. Throws `not_found` and `invalid_transition`. */
export async function decideVerification(
  context: AccountsContext,
  input: Input<'decideVerification'>,
  caller: Caller,
): Promise<ListedVerification> {
  const { id, status, note } = input
  const at = context.clock.now()
  return context.database.writer.write(async (trx) => {
    const found = await trx
      .selectFrom('verifications')
      .innerJoin('users', 'users.id', 'verifications.user_id')
      .selectAll('verifications')
      .select('users.username')
      .where('verifications.id', '=', id)
      .executeTakeFirst()
    if (!found) throw new RegistryError('not_found', 'There is no such verification.')
    const { username, ...row } = found
    if (!decisions[row.method][row.status].includes(status)) throw refuseDecision(row, status)
    const settled = await settleVerification(context, trx, row, { status, note, at })
    const data = { id, method: row.method, from: row.status }
    await recordAudit(trx, { caller, action: `verification.${status}`, subject: username, at, data })
    return toListedVerification({ ...settled, username })
  })
}

function refuseDecision({ method, status }: VerificationRow, wanted: VerificationDecision): RegistryError {
  const open = decisions[method][status]
  const ways = open.length === 0 ? 'No decision is possible.' : `It may become: ${open.join(', ')}.`
  const detail = `A ${method} verification that is ${status} cannot become ${wanted}. ${ways}`
  return new RegistryError('invalid_transition', detail)
}

/** Completes or revokes a verification, and updates everything that depends on it. */
export async function settleVerification(
  context: AccountsContext,
  trx: WriteTransaction,
  row: VerificationRow,
  outcome: { status: 'verified' | 'rejected'; note: string; at: number },
): Promise<VerificationRow> {
  const { status, note, at } = outcome
  const change = { status, note, checked_at: at }
  await trx.updateTable('verifications').set(change).where('id', '=', row.id).execute()
  if (status === 'verified' || row.status === 'verified') {
    await context.onVerificationChange(trx, row.user_id, at)
  }
  return { ...row, ...change }
}
