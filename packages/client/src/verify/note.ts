import { splitNote, verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'

/**
 * The text of a signed note (C2SP `signed-note`) that one of the given verifier keys signed, and which of them did.
 * `what` names it in sentences.
 *
 * @throws {VerificationError} that names the key it is signed with, where that is none of them.
 */
export function verifyNote(
  note: string,
  keys: readonly string[],
  what = 'the note',
): { readonly text: string; readonly signers: readonly Signer[] } {
  const parts = splitNote(note)
  if (!parts) throw new VerificationError('signature', `There is no signature below ${what}.`)
  return { text: parts.text, signers: verifySignatures(parts, keys, 'signature', what) }
}
