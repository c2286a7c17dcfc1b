import { ed25519 } from '@noble/curves/ed25519.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { fromBase64 } from './bytes.ts'
import { VerificationError, type VerifiedPart } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

/** A signed note (C2SP `signed-note`), split into its parts. */
export interface SignedNote {
  /** The signed text, with its final line break. */
  readonly text: string
  /** The signature lines. */
  readonly signatures: string
}

/** The name and the hash of a signing key, by which people compare keys. */
export interface Signer {
  readonly name: string
  readonly hash: string
}

interface SignatureLine extends Signer {
  readonly signature: Uint8Array
}

const linesMax = 16
/** Matches control characters except the line break. */
const controlCharacter = /(?!\n)[^ -\u{10ffff}]/u

/**
 * Splits a note at its last empty line. Undefined for a note without an empty line, and for text with control
 * characters or lone surrogates, whose bytes could also be those of another text.
 */
export function splitNote(note: string): SignedNote | undefined {
  if (!note.isWellFormed() || controlCharacter.test(note)) return undefined
  const end = note.lastIndexOf('\n\n')
  return end === -1 ? undefined : { text: note.slice(0, end + 1), signatures: note.slice(end + 2) }
}

/**
 * Returns which of the given keys signed a text. Lines of other keys are ignored, as the format requires. An invalid
 * signature by a given key is refused even if other signatures are valid. `what` names the text in error messages.
 *
 * @throws {VerificationError} for `part` if no given key signed.
 */
export function verifySignatures(
  note: SignedNote,
  keys: readonly string[],
  part: VerifiedPart,
  what: string,
): Signer[] {
  const lines = parseLines(note.signatures)
  if (!lines) throw new VerificationError(part, `The signature of ${what} is not in the form of a signed note.`)
  const known = keys.map(parseVerifierKey)
  const message = utf8ToBytes(note.text)
  const signers: Signer[] = []
  for (const { name, hash, signature } of lines) {
    const key = known.find((one) => one.name === name && one.hash === hash)
    if (!key) continue
    if (!isSignature(signature, message, key.publicKey)) {
      const sentence = `The signature of ${what} by the key ${name}+${hash} does not match its text: one of them was altered.`
      throw new VerificationError(part, sentence)
    }
    if (!signers.some((one) => one.name === name && one.hash === hash)) signers.push({ name, hash })
  }
  if (signers.length > 0) return signers
  const [signed, given] = [listKeys(lines), listKeys(known) || 'none']
  throw new VerificationError(
    part,
    `The signature of ${what} is by the key ${signed}, which is not among the given keys: ${given}.`,
  )
}

/** Parses the signature lines of a note; undefined if a line is invalid or there are too many lines. */
export function parseLines(signatures: string): SignatureLine[] | undefined {
  if (!signatures.endsWith('\n')) return undefined
  const lines = signatures
    .slice(0, -1)
    .split('\n', linesMax + 1)
    .map(parseSignatureLine)
  return lines.length <= linesMax && lines.every((line) => line !== undefined) ? lines : undefined
}

function parseSignatureLine(line: string): SignatureLine | undefined {
  const [, name, encoded] = /^\u2014 ([^\s+\p{C}]+) (\S+)$/u.exec(line) ?? []
  const bytes = encoded === undefined ? undefined : fromBase64(encoded)
  if (name === undefined || bytes === undefined || bytes.length < 5) return undefined
  return { name, hash: bytesToHex(bytes.subarray(0, 4)), signature: bytes.subarray(4) }
}

/** Whether a key signed these bytes. */
export function isSignature(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    // Strict RFC 8032 rules: laxer rules would allow several signatures for one text.
    return ed25519.verify(signature, message, publicKey, { zip215: false })
  } catch {
    return false
  }
}

function listKeys(keys: readonly Signer[]): string {
  return keys.map(({ name, hash }) => `${name}+${hash}`).join(', ')
}

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
