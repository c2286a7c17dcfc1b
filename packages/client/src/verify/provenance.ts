import { parseProvenance, toSignedFields, type Provenance, type VersionEntry } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { verifyFiles, type ContentFile } from './files.ts'
import { verifyLog } from './log-proof.ts'
import { verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

export interface VerifyProvenanceOptions {
  /** Verifier keys that are believed, as `skillstead key` prints them. No key in a record is. */
  readonly keys: readonly string[]
  /** The files of the version, where they are to be checked as well. */
  readonly content?: readonly ContentFile[]
}

/** Everything matches, or what does not: each problem a sentence, and the part that it is about. */
export type ProvenanceReport =
  | {
      readonly ok: true
      readonly problems: readonly []
      readonly provenance: Provenance
      /** The keys that signed the record. */
      readonly signers: readonly Signer[]
      /** What the log says of the version; null where it is in no log, which is so for what is not public. */
      readonly entry: VersionEntry | null
      readonly contentChecked: boolean
    }
  | { readonly ok: false; readonly problems: readonly VerificationError[] }

/**
 * Checks a provenance record with nothing but public keys: its signature, that the log of the node holds the version,
 * that the log and the record say the same, and that given files are the version's. Needs no network and never throws
 * for what is in a record, whatever it is.
 *
 * @example
 * const report = verifyProvenance(record, { keys: ['skills.example+1f0c2a4b+AZ…'], content: files })
 * if (!report.ok) throw report.problems[0]
 */
export function verifyProvenance(record: unknown, { keys, content }: VerifyProvenanceOptions): ProvenanceReport {
  const problems: VerificationError[] = []
  const check = <T>(work: () => T) => collect(problems, work)
  const provenance = check(() => (keys.forEach(parseVerifierKey), readRecord(record)))
  if (!provenance) return { ok: false, problems }
  const { log } = provenance
  const signers = check(() => verifyRecordSignature(provenance, keys))
  const entry = log ? verifyLog(provenance, log, keys, check) : null
  // The list of the entry names the files that differ, where it is the one of the digest.
  if (content) check(() => verifyFiles(content, provenance.digest, entry?.data.files ?? []))
  if (problems.length > 0 || !signers || entry === undefined) return { ok: false, problems }
  return { ok: true, problems: [], provenance, signers, entry, contentChecked: content !== undefined }
}

function collect<T>(problems: VerificationError[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    problems.push(error)
    return undefined
  }
}

function readRecord(record: unknown): Provenance {
  let provenance: Provenance
  try {
    provenance = parseProvenance(record)
  } catch (error) {
    throw noRecord((error as Error).message)
  }
  const canonical = toCanonical(record)
  if (canonical !== undefined && canonical === toCanonical(provenance)) return provenance
  throw noRecord('it holds what none does.')
}

function noRecord(why: string): VerificationError {
  return new VerificationError('record', `This is no provenance record: ${why}`)
}

function verifyRecordSignature(provenance: Provenance, keys: readonly string[]): Signer[] {
  const note = { text: `${toCanonical(toSignedFields(provenance))}\n`, signatures: provenance.signature }
  return verifySignatures(note, keys, 'signature', 'the record')
}

/** Undefined for what is no JSON that could be signed. */
function toCanonical(value: unknown): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}
