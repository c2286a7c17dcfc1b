import type { PublisherIdentity, Security, Warning } from '@skillstead/protocol'
import type { QuarantineItemRow, SkillDocumentRow, SkillRow, UserRow, VersionRow } from '../../storage/tables.ts'
import type { Inspection } from '../versions/inspection.ts'
import type { PackageFields } from '../versions/package-fields.ts'
import type { PackedContent } from '../versions/skill-package.ts'
import type { FileRow, ShownAccess } from '../versions/stored-version.ts'
import type { SkillSettings } from '../context/ports.ts'

/** Why a version is quarantined: `policy` waits for an administrator of the node, `approval` for reviewers. */
export type QuarantineReason = QuarantineItemRow['reason']

/** A checked version to store. */
export interface Publication {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly publisher: Pick<UserRow, 'id' | 'username'>
  /** The identity of the CI job that publishes. */
  readonly identity?: PublisherIdentity | undefined
  readonly fields: PackageFields
  readonly content: PackedContent
  /** The inspection of the content; omitted only if the same content is known to be stored already. */
  readonly inspection?: Inspection | undefined
  readonly settings: SkillSettings
  readonly changelog: string
  /** Milliseconds since 1970. Default: now. */
  readonly publishedAt?: number
  readonly forkedFrom?: { readonly fullName: string; readonly version: string } | undefined
  /** Whether the version was yanked at its source. */
  readonly yanked?: boolean | undefined
  /** Whether the version is imported: its number is used only if higher than existing versions. */
  readonly imported?: boolean
  /** Quarantine reasons that a release lifted: `policy` skips the scan policy, `approval` skips the review. */
  readonly released?: readonly QuarantineReason[]
}

export interface Published {
  readonly skill: SkillRow
  readonly version: VersionRow
  readonly created: boolean
  /** The reason if the version must be quarantined: the caller then rolls back. */
  readonly quarantinedFor?: QuarantineReason | undefined
  readonly warnings: readonly Warning[]
  /** The stored document and files, if the version was just created. */
  readonly document?: SkillDocumentRow
  readonly files?: readonly FileRow[]
  /** The scan of the version, if it was just created. */
  readonly scan?: Security
  /** The combined scan of the version and the metadata, which the policy judged. */
  readonly judged?: Security
  readonly uses?: ShownAccess
}
