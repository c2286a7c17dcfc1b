import * as v from 'valibot'
import { Change } from './change.ts'
import { Digest, Id, Timestamp, Version } from './fields.ts'
import { Security } from './security.ts'
import { VersionFile } from './skill.ts'

/** A version that the registry's policy does not publish until an administrator releases it. */
export const QuarantinedVersion = v.object({
  id: Id,
  fullName: v.string(),
  /** The version number at submission. If the author did not choose it, the release may assign a higher number. */
  version: Version,
  digest: Digest,
  publisher: v.object({ id: Id, username: v.string() }),
  security: Security,
  /** The verdict on what the version changes; the policy also applies to this verdict. */
  change: v.nullable(Change),
  /** When the version was quarantined. */
  createdAt: Timestamp,
  /**
   * Whether a rescan quarantined the version after its publication; such a version can be neither released nor
   * withdrawn.
   */
  published: v.boolean(),
})
export type QuarantinedVersion = v.InferOutput<typeof QuarantinedVersion>

/** A quarantined version, as an administrator sees it before deciding. */
export const QuarantinedDetails = v.object({
  ...QuarantinedVersion.entries,
  files: v.array(VersionFile),
})
export type QuarantinedDetails = v.InferOutput<typeof QuarantinedDetails>
