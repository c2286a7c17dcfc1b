import type { AccountsContext } from './accounts-context.ts'
import type { VerificationRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

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
