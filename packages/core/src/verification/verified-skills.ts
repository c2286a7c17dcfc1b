import type { WriteTransaction } from '../storage/writer.ts'

/**
 * Computes `verified` anew for the skills of an owner: he holds a verified method, and the latest scan of the skill is
 * `safe`. Nothing of a registry's own is scanned yet, so no skill is verified and there is nothing to write.
 */
export async function refreshVerifiedSkills(trx: WriteTransaction, ownerId: string, at: number): Promise<void> {
  void [trx, ownerId, at]
}
