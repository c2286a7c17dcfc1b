import * as v from 'valibot'
import { firstIssueOnly } from '../parse-json.ts'
import { Count, Digest, Id, Timestamp, Version } from './fields.ts'
import { SkillDetails } from './skill.ts'

/** A SHA-256 hash in standard base64: 32 bytes, so the last digit carries two bits that are zero. */
const Hash = v.pipe(v.string(), v.regex(/^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/, 'must be 32 bytes in base64'))

/** That the log of a registry holds a version: what is needed to compute the root of its tree again. */
const LogProof = v.object({
  /** The name of the node whose log it is, and of the key that signs its checkpoints. */
  origin: v.string(),
  /** The place of the entry, from 0; the feed's `seq` less one. */
  index: Count,
  treeSize: Count,
  leafHash: Hash,
  rootHash: Hash,
  /** The siblings on the way from the leaf to the root (RFC 9162, section 2.1.3). */
  inclusionProof: v.pipe(v.array(Hash), v.maxLength(64)),
  /** A signed note (C2SP `tlog-checkpoint`) of the tree of this size and root. */
  checkpoint: v.string(),
  /** The entry as canonical JSON (RFC 8785), byte for byte what the leaf's hash is of. */
  entry: v.string(),
})

/**
 * Who published a version and when, whose work it is, and the proof that the log holds it. `signature` is of the canonical
 * JSON of the record without it, a line break at the end; of `log` that text has only whether it is null.
 */
export const Provenance = v.object({
  skill: v.object({ id: Id, fullName: v.string() }),
  version: Version,
  digest: Digest,
  publisher: v.object({ id: Id, username: v.string() }),
  publishedAt: Timestamp,
  /** When the first version of the skill was. */
  firstPublishedAt: Timestamp,
  /** By which methods its owner is verified. */
  authorVerified: v.array(v.string()),
  /** What it was forked from, the nearest first, as far as the caller may see it. */
  forkChain: v.array(v.object({ fullName: v.string(), version: Version, digest: Digest })),
  origin: SkillDetails.entries.origin,
  /** Null for what is not public. */
  log: v.nullable(LogProof),
  /** Signature lines of a signed note (C2SP): one, two while a new key takes the place of an old one. */
  signature: v.string(),
})
export type Provenance = v.InferOutput<typeof Provenance>

/** A record as it came from somewhere. Throws an Error whose message says where it is no provenance record. */
export function parseProvenance(value: unknown): Provenance {
  return parse(Provenance, value)
}

/** What a record's signature is of, as canonical JSON: that a version is in no log is said by the signature too. */
export function toSignedFields(record: Omit<Provenance, 'signature'>): object {
  const { log, signature: _signature, ...fields } = { signature: '', ...record }
  return log === null ? { ...fields, log } : fields
}

/** The entry of a version in the log of a registry, as far as provenance looks at it. */
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
    /** Null where the list was too long for an entry. */
    files: v.nullable(v.array(v.object({ path: v.string(), size: Count, digest: Digest }))),
  }),
})
export type VersionEntry = v.InferOutput<typeof VersionEntry>

/** An entry of the log as a value. Throws an Error whose message says where it is no entry of a version. */
export function parseVersionEntry(value: unknown): VersionEntry {
  return parse(VersionEntry, value)
}

function parse<Schema extends v.GenericSchema>(schema: Schema, value: unknown): v.InferOutput<Schema> {
  const { success, output, issues } = v.safeParse(schema, value, firstIssueOnly)
  if (success) return output
  const [issue] = issues
  const path = v.getDotPath(issue) ?? ''
  throw new Error(path === '' ? issue.message : `${path}: ${issue.message}`)
}
