import * as v from 'valibot'
import { firstIssueOnly } from '../parse-json.ts'
import { EvaluationResult } from './evaluation.ts'
import { Count, Digest, Id, Timestamp, Version } from './fields.ts'
import { SkillDetails, VersionFile } from './skill.ts'
import { PublisherIdentity } from './trusted-publisher.ts'

/** A SHA-256 hash in standard base64: 32 bytes, so the last character encodes two zero bits. */
const Hash = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 'must be 32 bytes in base64'))

/** Proof that the log of a registry contains a version: everything that is needed to recompute the root of its tree. */
const LogProof = v.object({
  /** Name of the node that has the log, and of the key that signs its checkpoints. */
  origin: v.string(),
  /** Index of the entry from 0; the feed's `seq` minus one. */
  index: Count,
  treeSize: Count,
  leafHash: Hash,
  rootHash: Hash,
  /** The sibling hashes from the leaf to the root (RFC 9162, section 2.1.3). */
  inclusionProof: v.pipe(v.array(Hash), v.maxLength(64)),
  /** A signed note (C2SP `tlog-checkpoint`) of the tree of this size and root. */
  checkpoint: v.string(),
  /** The entry as canonical JSON (RFC 8785), byte for byte the input of the leaf's hash. */
  entry: v.string(),
})

/** Proof that the log of the version, in the tree of the same size, contains the entry of a result of an evaluation. */
const EvaluationProof = v.pick(LogProof, ['index', 'leafHash', 'inclusionProof', 'entry'])

/** Maximum number of results of evaluations with proofs in a record; a record has the results that were posted last. */
export const provenEvaluationsMax = 10

/**
 * Who published a version and when, its origin, and the proof that the log contains the version. `signature` signs
 * {@link toSignedFields} as canonical JSON, followed by a line break.
 */
export const Provenance = v.object({
  skill: v.object({ id: Id, fullName: v.string() }),
  version: Version,
  digest: Digest,
  publisher: v.object({ id: Id, username: v.string() }),
  publishedAt: Timestamp,
  /** When the first version of the skill was published. */
  firstPublishedAt: Timestamp,
  /** Verification methods of the skill's owner. */
  authorVerified: v.array(v.string()),
  /** The skills that the skill was forked from, nearest first, without skills that the caller may not see. */
  forkChain: v.array(v.object({ fullName: v.string(), version: Version, digest: Digest })),
  origin: SkillDetails.entries.origin,
  /** Null for versions that are not public. */
  log: v.nullable(LogProof),
  /** On request: the last result of each user in the log, at most ten. */
  evaluations: v.optional(v.pipe(v.array(EvaluationProof), v.maxLength(provenEvaluationsMax))),
  /** Signature lines of a signed note (C2SP): one, or two during a key rotation. */
  signature: v.string(),
})
export type Provenance = v.InferOutput<typeof Provenance>

/** Validates an untrusted provenance record. Throws an Error whose message names the invalid field. */
export function parseProvenance(value: unknown): Provenance {
  return parseUntrusted(Provenance, value)
}

/**
 * The fields that a record's signature covers. `log` is one of them only if it is null, so that its absence is signed.
 * The results of evaluations are proven by the log alone.
 */
export function toSignedFields(record: Omit<Provenance, 'signature'>): object {
  const { log, evaluations: _evaluations, signature: _signature, ...fields } = { signature: '', ...record }
  return log === null ? { ...fields, log } : fields
}

const VersionEntry = v.object({
  seq: Count,
  type: v.literal('version'),
  at: Timestamp,
  subject: v.string(),
  digest: Digest,
  data: v.object({
    skill: v.object({ id: Id, fullName: v.string() }),
    version: Version,
    publishedAt: Timestamp,
    publisher: v.object({ id: Id, username: v.string() }),
    /** The CI identity that published the version; absent if a user did. Older versions of Skillstead ignore it. */
    identity: v.optional(PublisherIdentity),
    /** Null if the list was too long for an entry. */
    files: v.nullable(v.array(VersionFile)),
  }),
})
/** The fields of a version's log entry that provenance checks. */
export type VersionEntry = v.InferOutput<typeof VersionEntry>

/** Validates a log entry of a version. Throws an Error whose message names the invalid field. */
export function parseVersionEntry(value: unknown): VersionEntry {
  return parseUntrusted(VersionEntry, value)
}

const EvaluationEntry = v.object({
  seq: Count,
  type: v.literal('evaluation'),
  subject: v.string(),
  digest: Digest,
  data: v.object({
    skill: v.object({ id: Id, fullName: v.string() }),
    version: Version,
    author: v.object({ id: Id, username: v.string() }),
    /** The CI identity that posted the result; absent if a user did. */
    identity: v.optional(PublisherIdentity),
    result: EvaluationResult,
  }),
})
/** The fields of the log entry of a result of an evaluation that provenance checks. */
export type EvaluationEntry = v.InferOutput<typeof EvaluationEntry>

/** Validates the log entry of a result of an evaluation. Throws an Error whose message names the invalid field. */
export function parseEvaluationEntry(value: unknown): EvaluationEntry {
  return parseUntrusted(EvaluationEntry, value)
}

function parseUntrusted<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, value, firstIssueOnly)
  if (success) return output
  const [issue] = issues
  const path = v.getDotPath(issue) ?? ''
  throw new Error(path === '' ? issue.message : `${path}: ${issue.message}`)
}
