import { parseForeignJson, parseVersionEntry, type Provenance, type VersionEntry } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { verifyCheckpoint } from './checkpoint.ts'
import { toListDigest } from './files.ts'
import { toLeafHash, verifyInclusion } from './merkle-tree.ts'
import { VerificationError } from './verification-error.ts'

type LogProof = NonNullable<Provenance['log']>
/** Does some of the work; undefined where something does not match, which it keeps. */
type Check = <T>(work: () => T) => T | undefined

interface LogCheck {
  readonly keys: readonly string[]
  readonly check: Check
  /** Whether the record's names have nothing but the log to vouch for them. */
  readonly checksNames: boolean
}

/** Checks that a log holds the version of a record and says the same of it. Everything that does not match is told. */
export function verifyLog(
  provenance: Provenance,
  log: LogProof,
  { keys, check, checksNames }: LogCheck,
): VersionEntry | undefined {
  check(() => verifyHead(log, keys))
  check(() => verifyLeaf(log))
  check(() => verifyInclusion({ ...log, proof: log.inclusionProof }))
  const entry = check(() => readEntry(log))
  if (!entry) return undefined
  const names = checksNames ? toNameClaims(provenance, entry) : []
  for (const claim of [...toClaims(provenance, log, entry), ...names]) check(() => verifyClaim(claim))
  return check(() => verifyList(entry))
}

function verifyHead(log: LogProof, keys: readonly string[]): void {
  const checkpoint = verifyCheckpoint(log.checkpoint, keys)
  for (const [field, name] of headFields) {
    if (checkpoint[field] === log[field]) continue
    const sentence = `The checkpoint has the ${name} ${checkpoint[field]}, and the record has ${log[field]}.`
    throw new VerificationError('checkpoint', sentence)
  }
}

const headFields = [
  ['origin', 'origin'],
  ['treeSize', 'tree size'],
  ['rootHash', 'root hash'],
] as const

function verifyLeaf({ entry, leafHash }: LogProof): void {
  const actual = toLeafHash(entry)
  if (actual === leafHash) return
  throw new VerificationError('leaf', `The entry has the leaf hash ${actual}, and the record has ${leafHash}.`)
}

function readEntry({ entry }: LogProof): VersionEntry {
  try {
    const value = parseForeignJson(entry)
    // One text for one value: of a field that came twice, every reader could take another.
    if (canonicalize(value) !== entry) throw new Error('it is no canonical JSON.')
    return parseVersionEntry(value)
  } catch (error) {
    throw new VerificationError('entry', `The log entry is none of a version: ${(error as Error).message}`)
  }
}

/** What both say of one thing. */
type Claim = readonly [what: string, logged: string | number, recorded: string | number]

/** Else they are not compared: after a transfer the old entry has the old name, and the signature is of the new one. */
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
  throw new VerificationError('entry', `The log entry has the ${what} ${logged}, and the record has ${recorded}.`)
}

function verifyList(entry: VersionEntry): VersionEntry {
  if (entry.data.files === null) return entry
  const actual = toListDigest(entry.data.files, 'entry')
  if (actual === entry.digest) return entry
  throw new VerificationError('entry', `The files of the log entry have the digest ${actual}, not ${entry.digest}.`)
}
