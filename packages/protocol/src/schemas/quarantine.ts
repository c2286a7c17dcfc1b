import * as v from 'valibot'
import { Count, Digest, Id, Timestamp, Version } from './fields.ts'
import { Security } from './security.ts'

/** A version that the policy of the registry keeps back until an administrator releases it. */
export const QuarantinedVersion = v.object({
  id: Id,
  fullName: v.string(),
  /** The number that it would have had when it came; without a wish of its author it may get a higher one. */
  version: Version,
  digest: Digest,
  publisher: v.object({ id: Id, username: v.string() }),
  security: Security,
  /** When it was quarantined. */
  createdAt: Timestamp,
  /** Whether a rescan quarantined it after its publication: it can be neither released nor withdrawn. */
  published: v.boolean(),
})
export type QuarantinedVersion = v.InferOutput<typeof QuarantinedVersion>

export const QuarantinedDetails = v.object({
  ...QuarantinedVersion.entries,
  files: v.array(v.object({ path: v.string(), size: Count, digest: Digest })),
})
export type QuarantinedDetails = v.InferOutput<typeof QuarantinedDetails>
