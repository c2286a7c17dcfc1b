import type {
  PathReason,
  QuarantinedVersion,
  Security,
  SkillDetails,
  SkillVersion,
  Warning,
} from '@skillstead/protocol'
import type { StorageContext } from '../../storage/storage-context.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { SkillDocumentRow, SkillRow, VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { readScan } from '../versions/inspection.ts'
import type { Published } from './publication.ts'
import { readSkillDocument, showDetails } from '../skills/show-details.ts'
import { toSkillVersion } from '../versions/skill-document.ts'
import { showAccess } from '../versions/version-changes.ts'
import type { ShownAccess, FileRow } from '../versions/stored-version.ts'
import { readShownEvaluations, type ShownEvaluations } from '../versions/version-evaluations.ts'
import { readFileRows } from '../versions/version-files.ts'

/** The response to a publish. */
export interface PublishAnswer {
  skill: SkillDetails
  version: SkillVersion
  created: boolean
  warnings: Warning[]
  omitted: PathReason[]
  changed: PathReason[]
  quarantined?: QuarantinedVersion
}

/** The values that the transaction of a publish returns for the response. */
export interface Stored {
  readonly skill: SkillRow
  /** The stored document of the skill, read before the transaction may be rolled back. */
  readonly document: SkillDocumentRow
  readonly version: VersionRow
  readonly files: readonly FileRow[]
  readonly security: Security | null
  readonly uses: ShownAccess & ShownEvaluations
  readonly created: boolean
  readonly warnings: readonly Warning[]
}

/** Reads the values for the response to a publish that `published` lacks, within the transaction. */
export async function readPublished(
  trx: WriteTransaction,
  published: Omit<Published, 'quarantinedFor'>,
): Promise<Stored> {
  const { skill, version, created, warnings, scan, uses, document, files } = published
  const toEvaluations = await readShownEvaluations(trx, [version])
  return {
    skill,
    document: document ?? (await readSkillDocument(trx, skill.id)),
    version,
    files: files ?? (await readFileRows(trx, version.id)),
    security: scan ?? (await readScan(trx, version.id)),
    uses: { ...(uses ?? (await showAccess(trx, version))), ...toEvaluations(version) },
    created,
    warnings,
  }
}

/** The response to a publish; `selected` are the files of the package that were omitted or changed. */
export async function toPublishAnswer(
  context: StorageContext,
  stored: Stored,
  caller: Caller,
  selected: { readonly omitted: readonly PathReason[]; readonly changed: readonly PathReason[] } = unselected,
): Promise<PublishAnswer> {
  const { skill, document, version, files, security, uses, created, warnings } = stored
  const details = await showDetails(context, skill, caller, document)
  return {
    skill: details,
    version: toSkillVersion(skill, version, files, security, uses),
    created,
    warnings: [...warnings],
    omitted: [...selected.omitted],
    changed: [...selected.changed],
  }
}

const unselected = { omitted: [], changed: [] }
