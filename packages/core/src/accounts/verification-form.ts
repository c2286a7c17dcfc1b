import { type ListedVerification, toTimestamp, type Verification } from '@skillstead/protocol'
import type { VerificationRow } from '../storage/tables.ts'
import { toWellKnown } from './verification-proofs.ts'

/** A verification as its owner sees it. */
export function toVerification(row: VerificationRow): Verification {
  return {
    id: row.id,
    method: row.method,
    status: row.status,
    token: row.token,
    instructions: toInstructions(row),
    checkedAt: row.checked_at === null ? null : toTimestamp(row.checked_at),
  }
}

/** A verification in a list. */
export function toListedVerification(row: VerificationRow & { username: string }): ListedVerification {
  const { username, proof, note } = row
  return { ...toVerification(row), username, proof, note, createdAt: toTimestamp(row.created_at) }
}

function toInstructions({ method, status, proof, token }: VerificationRow): string {
  if (status === 'verified') return 'Verified: nothing left to do.'
  if (status === 'rejected') return 'This verification is closed. Request a new one to try again.'
  if (method === 'manual') return 'An administrator reviews your statement and decides.'
  const place =
    method === 'github'
      ? `on a line of its own into ${proof}`
      : `into a TXT record of ${proof} or _skillstead.${proof}, or on a line of its own into ${toWellKnown(proof)}`
  return `Put ${token} ${place}. The node checks several times within two days, and at once when you repeat the request.`
}
