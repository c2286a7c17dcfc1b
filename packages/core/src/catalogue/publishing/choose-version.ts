import { compareVersions, isVersion, nextPatch, RegistryError } from '@skillstead/protocol'
import type { SkillRow, VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { Publication } from './publication.ts'
import { isOffered } from '../versions/recalls.ts'
import type { ListedVersion } from '../versions/skill-document.ts'

/** The version number for new content, or the existing version that already has this content. */
export type VersionChoice =
  | { readonly number: string; readonly versions: readonly ListedVersion[]; readonly existing?: undefined }
  | { readonly existing: VersionRow; readonly number?: undefined }

/**
 * Decides under which number content is published. Versions are immutable: a number already used for other content is
 * refused with `version_exists`, and publishing the same content again creates no version. `versions` are all versions
 * of the skill, highest first.
 */
export async function chooseVersion(
  trx: WriteTransaction,
  skill: Pick<SkillRow, 'full_name'> | undefined,
  versions: readonly ListedVersion[],
  publication: Publication,
): Promise<VersionChoice> {
  const wanted = publication.fields.version
  const [highest] = versions
  if (!highest) return { number: wanted ?? '1.0.0', versions }
  if (publication.imported) return chooseImported(trx, versions, highest, publication)

  const { digest } = publication.content
  if (wanted === undefined) {
    const latest = versions.find(isOffered)
    if (latest?.digest !== digest) return { number: getNextPatch(highest.version), versions }
    return { existing: await readVersionRow(trx, latest.id) }
  }
  const taken = versions.find(({ version }) => version === wanted)
  if (!taken) return { number: wanted, versions }
  if (taken.digest === digest) return { existing: await readVersionRow(trx, taken.id) }
  throw new RegistryError(
    'version_exists',
    `${skill!.full_name}@${wanted} is already published with other content, and published versions never change. Choose another version, or omit it for the next patch.`,
  )
}

/**
 * Chooses the number of an imported version. Imported versions are identified by content and date: a revert to earlier
 * content is a new version, a repeated import is not.
 */
async function chooseImported(
  trx: WriteTransaction,
  versions: readonly ListedVersion[],
  highest: ListedVersion,
  publication: Publication,
): Promise<VersionChoice> {
  const { publishedAt, content, fields } = publication
  const existing = versions.find(
    ({ digest, published_at }) =>
      digest === content.digest && (publishedAt === undefined || publishedAt === published_at),
  )
  if (existing) return { existing: await readVersionRow(trx, existing.id) }
  const wanted = fields.version
  if (wanted !== undefined && compareVersions(wanted, highest.version) > 0) return { number: wanted, versions }
  return { number: getNextPatch(highest.version), versions }
}

function getNextPatch(version: string): string {
  const next = nextPatch(version)
  if (isVersion(next)) return next
  throw new RegistryError('conflict', `There is no patch version after ${version}. Specify a version.`)
}

function readVersionRow(trx: WriteTransaction, id: string): Promise<VersionRow> {
  return trx.selectFrom('versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
