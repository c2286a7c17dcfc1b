import {
  checkPackage,
  packContent,
  readPackageFields,
  type Inspection,
  type PackageFields,
  type PackedContent,
} from '@skillstead/core/internal'
import { type ArchiveFile, decodeText, findTextProblem, warnOfFiles } from '@skillstead/skill-format/archives'
import { RegistryError } from '@skillstead/protocol'
import { refusePlace, type Refusal } from './place-skill.ts'

/** The content of a version, checked and digested before any transaction begins. */
export interface PackedVersion {
  readonly fields: PackageFields
  readonly content: PackedContent
}

/** A version packed for storage, with the result of its scan. */
export interface PreparedVersion extends PackedVersion {
  readonly inspection: Inspection
}

/**
 * Checks the files of a version and computes their digest. Refuses the version if `digest` is set and differs. Fields
 * in `given` replace those of the frontmatter.
 */
export async function packVersion(
  title: string,
  files: readonly ArchiveFile[],
  { digest, given }: { digest: string | null | undefined; given: Parameters<typeof readPackageFields>[1] },
): Promise<PackedVersion | Refusal> {
  const document = files.find(({ path }) => path === 'SKILL.md')
  if (!document) return refusePlace('invalid', `${title} has no SKILL.md.`)
  const problem = findTextProblem(document.bytes)
  if (problem !== undefined)
    return refusePlace('invalid', `${title} is not a version that this node accepts. ${problem}`)
  const skillMd = decodeText(document.bytes)
  try {
    const rest = files.filter((file) => file !== document)
    checkPackage({ skillMd, files: rest })
    const content = await packContent({ skillMd, files: rest })
    // The digest is computed from the bytes that will be stored, not from the bytes that were checked.
    if (digest !== undefined && content.digest !== digest) {
      return refusePlace('altered', `The files of ${title} do not match its digest.`)
    }
    const fields = readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true })
    return { fields: { ...fields, warnings: [...fields.warnings, ...warnOfFiles(rest)] }, content }
  } catch (error) {
    if (!(error instanceof RegistryError) || error.status >= 500) throw error
    return refusePlace('invalid', `${title} is not a version that this node accepts. ${error.message}`)
  }
}

/** Whether a version was refused instead of prepared. */
export function isRefusal<Value extends object>(one: Value | Refusal): one is Refusal {
  return 'result' in one
}

/** Calls `select` with batches of distinct keys, so that each statement stays short, and returns all rows. */
export async function selectInBatches<Key, Row>(
  keys: Iterable<Key>,
  select: (batch: Key[]) => Promise<Row[]>,
): Promise<Row[]> {
  const distinct = [...new Set(keys)]
  const rows: Row[] = []
  for (let i = 0; i < distinct.length; i += batchMax) rows.push(...(await select(distinct.slice(i, i + batchMax))))
  return rows
}

const batchMax = 100
