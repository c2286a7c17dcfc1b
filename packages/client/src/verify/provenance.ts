import { parseProvenance, toSignedFields, type Provenance, type VersionEntry } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { verifyFiles, type ContentFile } from './files.ts'
import { verifyLog } from './log-proof.ts'
import { parseLines, verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

export interface VerifyProvenanceOptions {
  /**
   * Verifier keys that are believed, as `skillstead key` prints them. No key in a record is. For the record of a mirror:
   * that of the node whose log it is, and that of the mirror as well where its own words are to be believed.
   */
  readonly keys: readonly string[]
  /** The files of the version, where they are to be checked as well. */
  readonly content?: readonly ContentFile[]
}

/** What a log does not say of a version: there is only the word of the node that signed the record. */
const saidBySigner = ['firstPublishedAt', 'authorVerified', 'forkChain', 'origin'] as const

/** A field of a record that nothing vouches for. */
export type UnprovenField = (typeof saidBySigner)[number]

/** Everything matches, or what does not: each problem a sentence, and the part that it is about. */
export type ProvenanceReport =
  | {
      readonly ok: true
      readonly problems: readonly []
      readonly provenance: Provenance
      /** The given keys that signed the record; none where `unproven` names fields. */
      readonly signers: readonly Signer[]
      /** What the log says of the version; null where it is in no log, which is so for what is not public. */
      readonly entry: VersionEntry | null
      readonly contentChecked: boolean
      /**
       * Fields that anybody may have made up: a mirror signed the record, and no key of it was given. All else is proven
       * by the log that the version was published to.
       */
      readonly unproven: readonly UnprovenField[]
    }
  | { readonly ok: false; readonly problems: readonly VerificationError[] }

/**
 * Checks a provenance record with nothing but public keys: its signature, that the log of the node holds the version,
 * that the log and the record say the same, and that given files are the version's. Needs no network and never throws
 * for what is in a record, whatever it is. The record of a mirror has the proof of the node that the version was published
 * to: that node's key is enough, and then `unproven` names what the mirror alone says.
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
  const isUnsigned = log !== null && isOfUnknownMirror(provenance, log.origin, keys)
  const signers = isUnsigned ? [] : check(() => verifyRecordSignature(provenance, keys))
  const entry = log ? verifyLog(provenance, log, { keys, check, checksNames: isUnsigned }) : null
  // The list of the entry names the files that differ, where it is the one of the digest.
  if (content) check(() => verifyFiles(content, provenance.digest, entry?.data.files ?? []))
  if (problems.length > 0 || !signers || entry === undefined) return { ok: false, problems }
  const contentChecked = content !== undefined
  return {
    ok: true,
    problems: [],
    provenance,
    signers,
    entry,
    contentChecked,
    unproven: isUnsigned ? saidBySigner : [],
  }
}

/** Whether a record is signed by nodes that no key is known of, and has the log of another one. */
function isOfUnknownMirror({ origin, signature }: Provenance, logOrigin: string, keys: readonly string[]): boolean {
  const signers = parseLines(signature)?.map(({ name }) => name) ?? [logOrigin]
  const known = new Set([logOrigin, ...keys.map((key) => parseVerifierKey(key).name)])
  return origin.kind === 'mirror' && signers.every((name) => !known.has(name))
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
