import type { Context } from '../context.ts'
import { refreshStanding } from '../community/author-standings.ts'
import type { VerificationRow } from '../storage/rows-trust.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { refreshVerifiedSkills } from '../catalogue/refresh-verified.ts'

/** Ends a verification, or takes one back, with everything that depends on it. */
export async function settleVerification(
  context: Context,
  trx: WriteTransaction,
  row: VerificationRow,
  outcome: { status: 'verified' | 'rejected'; note: string; at: number },
): Promise<VerificationRow> {
  const { status, note, at } = outcome
  const change = { status, note, checked_at: at }
  await trx.updateTable('verifications').set(change).where('id', '=', row.id).execute()
  if (status === 'verified' || row.status === 'verified') {
    await refreshStanding(trx, row.user_id, at)
    await refreshVerifiedSkills(context, trx, row.user_id)
  }
  return { ...row, ...change }
}
