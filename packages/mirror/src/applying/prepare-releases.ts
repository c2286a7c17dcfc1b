import { inspectEach, mapInBatches, type CatalogueContext } from '@skillstead/core/internal'
import type { MirrorRelease } from './mirrored-types.ts'
import type { Refusal } from './place-skill.ts'
import { isRefusal, packVersion, selectInBatches, type PackedVersion, type PreparedVersion } from './prepare-package.ts'

/** A release that was read. It was also scanned, unless the same content is already stored under its name. */
export type PreparedRelease = PackedVersion & Partial<Pick<PreparedVersion, 'inspection'>>

interface PackedRelease extends PackedVersion {
  readonly release: MirrorRelease
}

/** Reads releases, and scans those not stored yet. The result has a refusal for each that cannot be imported. */
export async function prepareReleases(
  context: CatalogueContext,
  releases: readonly MirrorRelease[],
): Promise<(PreparedRelease | Refusal)[]> {
  const packed = await mapInBatches(releases, packRelease)
  const readable = packed.flatMap((one) => (isRefusal(one) ? [] : [one]))
  const stored = await findStoredReleases(context, readable)
  const fresh = readable.filter((one) => !stored.has(one))
  const inspections = await inspectEach(context, fresh, ({ release }) => release.changelog)
  return packed.map((one) => {
    if (isRefusal(one)) return one
    const { fields, content } = one
    const inspection = inspections.get(one)
    return { fields, content, ...(inspection && { inspection }) }
  })
}

async function packRelease(release: MirrorRelease): Promise<PackedRelease | Refusal> {
  const { owner, name, files, digest, keywords, displayName, description, license, version, category } = release
  const title = `${owner}/${name}${version === undefined ? '' : `@${version}`}`
  const given = { name, version, displayName, description, license, category, keywords: keywords && [...keywords] }
  const packed = await packVersion(title, files, { digest, given })
  return isRefusal(packed) ? packed : { ...packed, release }
}

/** Whether a stored version is this release: by the number or, if the release has none, by content and date. */
export function isStoredRelease(
  row: { readonly version: string; readonly digest: string; readonly published_at: number },
  { release, fields, content }: PackedRelease,
): boolean {
  if (fields.version !== undefined) return row.version === fields.version
  const { publishedAt } = release
  return row.digest === content.digest && (publishedAt === undefined || publishedAt === row.published_at)
}

async function findStoredReleases(
  { database }: CatalogueContext,
  packed: readonly PackedRelease[],
): Promise<Set<PackedRelease>> {
  const rows = await selectInBatches(packed, (batch) =>
    database.read
      .selectFrom('versions')
      .innerJoin('skills', 'skills.id', 'versions.skill_id')
      .select(['skills.full_name', 'versions.version', 'versions.digest', 'versions.published_at'])
      .where('versions.digest', 'in', [...new Set(batch.map(({ content }) => content.digest))])
      .where('skills.full_name', 'in', [...new Set(batch.map(toReleaseSkill))])
      .execute(),
  )
  const byName = Map.groupBy(rows, (row) => row.full_name)
  return new Set(packed.filter((one) => byName.get(toReleaseSkill(one))?.some((row) => isStoredRelease(row, one))))
}

function toReleaseSkill({ release: { owner, name } }: PackedRelease): string {
  return `${owner}/${name}`
}
