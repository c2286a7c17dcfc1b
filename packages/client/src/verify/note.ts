import { splitNote, verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'

/**
 * Verifies that one of the given verifier keys signed a note (C2SP `signed-note`); returns its text and the signers.
 * `what` names the note in error messages.
 *
 * @throws {VerificationError} that names the signing key if it is not one of the given keys.
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
