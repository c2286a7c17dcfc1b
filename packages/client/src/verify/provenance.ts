import {
  type EvaluationEntry,
  parseProvenance,
  toErrorText,
  toSignedFields,
  type Provenance,
  type VersionEntry,
} from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { verifyFiles, type ContentFile } from './files.ts'
import { verifyEvaluations, verifyLog } from './log-proof.ts'
import { parseLines, verifySignatures, type Signer } from './signed-note.ts'
import { VerificationError } from './verification-error.ts'
import { parseVerifierKey } from './verifier-key.ts'

/** Options of `verifyProvenance`. */
export interface VerifyProvenanceOptions {
  /**
   * Trusted verifier keys, in the format of `skillstead key`. Keys inside a record are never trusted. For the record of
   * a mirror: the key of the node whose log it is, and also that of the mirror if the mirror's own fields are to be
   * trusted.
   */
  readonly keys: readonly string[]
  /** The files of the version, if they are to be verified as well. */
  readonly content?: readonly ContentFile[]
}

/** Fields that the log does not contain: only the node that signed the record states them. */
const signerFields = ['firstPublishedAt', 'authorVerified', 'forkChain', 'origin'] as const

/** A field of a record that nothing proves. */
export type UnprovenField = (typeof signerFields)[number]

/** The result of {@link verifyProvenance}: the verified contents of the record, or the mismatches as errors. */
export type ProvenanceReport =
  | {
      readonly ok: true
      readonly problems: readonly []
      readonly provenance: Provenance
      /** The given keys that signed the record; empty if `unproven` lists fields. */
      readonly signers: readonly Signer[]
      /** The log entry of the version; null if it is in no log, as for skills that are not public. */
      readonly entry: VersionEntry | null
      readonly contentChecked: boolean
      /** The log entries of the results of evaluations in the record, the newest first. */
      readonly evaluations: readonly EvaluationEntry[]
      /**
       * Fields that are not proven, because a mirror signed the record and no key of the mirror was given. All other
       * fields are proven by the log that the version was published to.
       */
      readonly unproven: readonly UnprovenField[]
    }
  | { readonly ok: false; readonly problems: readonly VerificationError[] }

/**
 * Verifies a provenance record with public keys alone: its signature, that the log of the node contains the version,
 * that log and record agree, and that given files are those of the version. Needs no network and never throws, whatever
 * the record contains. The record of a mirror contains the proof of the publishing node: the key of that node is
 * sufficient, and `unproven` then lists the fields that only the mirror states.
 *
 * @example
 * const report = verifyProvenance(record, { keys: ['skills.example+1f0c2a4b+AZ…'], content: files })
 * if (!report.ok) throw report.problems[0]
 */
export function verifyProvenance(record: unknown, { keys, content }: VerifyProvenanceOptions): ProvenanceReport {
  const problems: VerificationError[] = []
  const check = <T>(work: () => T) => collectProblem(problems, work)
  const provenance = check(() => (keys.forEach(parseVerifierKey), parseRecord(record)))
  if (!provenance) return { ok: false, problems }
  const { log } = provenance
  const isUnsigned = log !== null && isOfUnknownMirror(provenance, log.origin, keys)
  const signers = isUnsigned ? [] : check(() => verifyRecordSignature(provenance, keys))
  const entry = log ? verifyLog(provenance, log, { keys, check, checksNames: isUnsigned }) : null
  const evaluations = verifyEvaluations(provenance, check)
  // If the digest of the log entry matches, its file list shows which files differ.
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
    evaluations,
    unproven: isUnsigned ? signerFields : [],
  }
}

/** Whether the record of a mirrored version is signed only by nodes of which no key is given, not by the log's node. */
function isOfUnknownMirror({ origin, signature }: Provenance, logOrigin: string, keys: readonly string[]): boolean {
  const signers = parseLines(signature)?.map(({ name }) => name) ?? [logOrigin]
  const known = new Set([logOrigin, ...keys.map((key) => parseVerifierKey(key).name)])
  return origin.kind === 'mirror' && signers.every((name) => !known.has(name))
}

function collectProblem<T>(problems: VerificationError[], work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error
    problems.push(error)
    return undefined
  }
}

function parseRecord(record: unknown): Provenance {
  let provenance: Provenance
  try {
    provenance = parseProvenance(record)
  } catch (error) {
    throw noRecord(toErrorText(error))
  }
  const canonical = toCanonicalJson(record)
  if (canonical !== undefined && canonical === toCanonicalJson(provenance)) return provenance
  throw noRecord('it contains an invalid value.')
}

function noRecord(why: string): VerificationError {
  return new VerificationError('record', `This is not a provenance record: ${why}`)
}

function verifyRecordSignature(provenance: Provenance, keys: readonly string[]): Signer[] {
  const note = { text: `${toCanonicalJson(toSignedFields(provenance))}\n`, signatures: provenance.signature }
  return verifySignatures(note, keys, 'signature', 'the record')
}

/** Returns undefined for a value that is not signable JSON. */
function toCanonicalJson(value: unknown): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}
