import { RegistryError, compareVersions, isVersion, nextPatch } from '@skillstead/protocol'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Publication } from './publish-version.ts'

/** The number for new content, or the version that has this content already. */
export type VersionChoice =
  | { readonly number: string; readonly existing?: undefined }
  | { readonly existing: VersionRow; readonly number?: undefined }

/**
 * Decides under which number content is published. A version never changes: a number that is taken by other content
 * is refused with `version_exists`, and the same content again is no new version.
 */
export async function chooseVersion(
  trx: WriteTransaction,
  skill: SkillRow | undefined,
  publication: Publication,
): Promise<VersionChoice> {
  const wanted = publication.fields.version
  const versions = skill ? await readBriefs(trx, skill.id) : []
  const [highest] = versions
  if (!highest) return { number: wanted ?? '1.0.0' }
  if (publication.imported) return chooseImported(trx, versions, highest, publication)

  const { digest } = publication.content
  if (wanted === undefined) {
    const latest = versions.find(({ yanked }) => yanked === 0)
    if (latest?.digest !== digest) return { number: getNextPatch(highest.version) }
    return { existing: await readVersion(trx, latest.id) }
  }
  const taken = versions.find(({ version }) => version === wanted)
  if (!taken) return { number: wanted }
  if (taken.digest === digest) return { existing: await readVersion(trx, taken.id) }
  throw new RegistryError(
    'version_exists',
    `${skill!.full_name}@${wanted} is published with other content, and a version never changes. Publish a new number, or none for the next patch.`,
  )
}

/** Dates tell the parts of a history apart, so that content which came back is imported again, but nothing twice. */
async function chooseImported(
  trx: WriteTransaction,
  versions: readonly Brief[],
  highest: Brief,
  publication: Publication,
): Promise<VersionChoice> {
  const { publishedAt, content, fields } = publication
  const existing = versions.find(
    ({ digest, published_at }) =>
      digest === content.digest && (publishedAt === undefined || publishedAt === published_at),
  )
  if (existing) return { existing: await readVersion(trx, existing.id) }
  const wanted = fields.version
  if (wanted !== undefined && compareVersions(wanted, highest.version) > 0) return { number: wanted }
  return { number: getNextPatch(highest.version) }
}

function getNextPatch(version: string): string {
  const next = nextPatch(version)
  if (isVersion(next)) return next
  throw new RegistryError('conflict', `There is no patch after ${version}. Give the version that you want.`)
}

const briefColumns = ['id', 'version', 'digest', 'yanked', 'published_at'] as const
type Brief = Pick<VersionRow, (typeof briefColumns)[number]>

/** Highest first. What the versions say of themselves stays where it is: a long history would be a lot to read. */
function readBriefs(trx: WriteTransaction, skillId: string): Promise<Brief[]> {
  return trx
    .selectFrom('versions')
    .select(briefColumns)
    .where('skill_id', '=', skillId)
    .orderBy('sort_key', 'desc')
    .execute()
}

function readVersion(trx: WriteTransaction, id: string): Promise<VersionRow> {
  return trx.selectFrom('versions').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
}
