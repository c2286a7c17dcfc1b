import {
  type EvaluationEntry,
  parseEvaluationEntry,
  parseForeignJson,
  parseVersionEntry,
  type Provenance,
  toErrorText,
  type VersionEntry,
} from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { verifyCheckpoint } from './checkpoint.ts'
import { toListDigest } from './files.ts'
import { toLeafHash, verifyInclusion } from './merkle-tree.ts'
import { VerificationError } from './verification-error.ts'

type LogProof = NonNullable<Provenance['log']>
/** Runs a check and records its VerificationError; undefined if it failed. */
type Check = <T>(work: () => T) => T | undefined

interface LogCheck {
  readonly keys: readonly string[]
  readonly check: Check
  /** Whether to compare the names in the record with the log, because no signature of a given key proves them. */
  readonly checksNames: boolean
}

/** Verifies that a log contains the version of a record, and that entry and record agree. Reports every mismatch. */
export function verifyLog(
  provenance: Provenance,
  log: LogProof,
  { keys, check, checksNames }: LogCheck,
): VersionEntry | undefined {
  check(() => verifyHead(log, keys))
  check(() => verifyLeaf(log))
  check(() => verifyInclusion({ ...log, proof: log.inclusionProof }))
  const entry = check(() => parseProvenEntry(log, 'a version', parseVersionEntry))
  if (!entry) return undefined
  const names = checksNames ? toNameClaims(provenance, entry) : []
  for (const claim of [...toClaims(provenance, log, entry), ...names]) check(() => verifyClaim(claim))
  return check(() => verifyList(entry))
}

/**
 * Verifies that the log contains the results of evaluations in a record, and that the results are of its version.
 * Returns their entries. The caller must verify the checkpoint of the log.
 */
export function verifyEvaluations(provenance: Provenance, check: Check): EvaluationEntry[] {
  const { log, evaluations = [] } = provenance
  return evaluations.flatMap((proof) => check(() => verifyEvaluation(provenance, log, proof)) ?? [])
}

function verifyEvaluation(
  { digest, version, skill }: Provenance,
  log: LogProof | null,
  proof: NonNullable<Provenance['evaluations']>[number],
): EvaluationEntry {
  if (!log) throw new VerificationError('entry', 'The record has results of evaluations, but no log that proves them.')
  verifyLeaf(proof)
  verifyInclusion({ ...log, ...proof, proof: proof.inclusionProof })
  const entry = parseProvenEntry(proof, 'a result of an evaluation', parseEvaluationEntry)
  const { data } = entry
  const claims: Claim[] = [
    ['index', entry.seq - 1, proof.index],
    ['subject', entry.subject, `${data.skill.fullName}@${data.version}`],
    ['digest', entry.digest, digest],
    ['version', data.version, version],
    ['skill', data.skill.id, skill.id],
  ]
  claims.forEach(verifyClaim)
  return entry
}

function verifyHead(log: LogProof, keys: readonly string[]): void {
  const checkpoint = verifyCheckpoint(log.checkpoint, keys)
  for (const [field, name] of headFields) {
    if (checkpoint[field] === log[field]) continue
    const sentence = `The checkpoint has the ${name} ${checkpoint[field]}, but the record has ${log[field]}.`
    throw new VerificationError('checkpoint', sentence)
  }
}

const headFields = [
  ['origin', 'origin'],
  ['treeSize', 'tree size'],
  ['rootHash', 'root hash'],
] as const

function verifyLeaf({ entry, leafHash }: Pick<LogProof, 'entry' | 'leafHash'>): void {
  const actual = toLeafHash(entry)
  if (actual === leafHash) return
  throw new VerificationError('leaf', `The entry has the leaf hash ${actual}, but the record has ${leafHash}.`)
}

function parseProvenEntry<Entry>(
  { entry }: Pick<LogProof, 'entry'>,
  what: string,
  parse: (value: unknown) => Entry,
): Entry {
  try {
    const value = parseForeignJson(entry)
    // Only canonical JSON is accepted: readers could resolve a duplicate field differently.
    if (canonicalize(value) !== entry) throw new Error('the entry is not canonical JSON.')
    return parse(value)
  } catch (error) {
    throw new VerificationError('entry', `The log entry is not one of ${what}: ${toErrorText(error)}`)
  }
}

/** A field that must be equal in the log entry and in the record. */
type Claim = readonly [what: string, logged: string | number, recorded: string | number]

/**
 * The names in the record and in its log entry. They are compared only if no signature of the record proves them: after
 * a transfer the log entry has the old name, and the signed record has the new name.
 */
function toNameClaims({ skill, publisher }: Provenance, { data }: VersionEntry): Claim[] {
  return [
    ['name', data.skill.fullName, skill.fullName],
    ["publisher's name", data.publisher.username, publisher.username],
  ]
}

function toClaims(provenance: Provenance, { index }: LogProof, { seq, subject, digest, data }: VersionEntry): Claim[] {
  return [
    ['index', seq - 1, index],
    ['subject', subject, `${data.skill.fullName}@${data.version}`],
    ['digest', digest, provenance.digest],
    ['version', data.version, provenance.version],
    ['skill', data.skill.id, provenance.skill.id],
    ['publisher', data.publisher.id, provenance.publisher.id],
    ['time of publication', data.publishedAt, provenance.publishedAt],
  ]
}

function verifyClaim([what, logged, recorded]: Claim): void {
  if (logged === recorded) return
  throw new VerificationError('entry', `The log entry has the ${what} ${logged}, but the record has ${recorded}.`)
}

function verifyList(entry: VersionEntry): VersionEntry {
  if (entry.data.files === null) return entry
  const actual = toListDigest(entry.data.files, 'entry')
  if (actual === entry.digest) return entry
  throw new VerificationError('entry', `The files of the log entry have the digest ${actual}, not ${entry.digest}.`)
}
