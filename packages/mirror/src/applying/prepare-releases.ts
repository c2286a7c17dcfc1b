import { RegistryError } from '@skillstead/protocol'
import {
  type CatalogueContext,
  inspectEach,
  readPackageFields,
  type PackageFields,
  checkPackage,
  packContent,
  type PackedContent,
  mapInSlices,
} from '@skillstead/core/internal'
import { decodeUtf8, isRefusal, type PreparedVersion } from './prepare-versions.ts'
import { refuse, type Refusal } from './place-skill.ts'
import type { MirrorRelease } from './mirrored-types.ts'

/** A release that was read; `inspection` is left out where the very content is there under this name. */
export type PreparedRelease = Omit<PreparedVersion, 'inspection'> & Partial<Pick<PreparedVersion, 'inspection'>>

export interface Packed {
  readonly release: MirrorRelease
  readonly fields: PackageFields
  readonly content: PackedContent
}

/** So many versions are looked up with one query. */
const lookedUpMax = 100

/** Reads releases, and looks at those that are not here yet; what cannot come in has its refusal in place of that. */
export async function prepareReleases(
  context: CatalogueContext,
  releases: readonly MirrorRelease[],
): Promise<(PreparedRelease | Refusal)[]> {
  const packed = await mapInSlices(releases, pack)
  const readable = packed.flatMap((one) => (isRefusal(one) ? [] : [one]))
  const there = await findThere(context, readable)
  const fresh = readable.filter((one) => !there.has(one))
  const inspections = await inspectEach(fresh, context.clock.now())
  return packed.map((one) => {
    if (isRefusal(one)) return one
    const { fields, content } = one
    const inspection = inspections.get(one)
    return { fields, content, ...(inspection && { inspection }) }
  })
}

async function pack(release: MirrorRelease): Promise<Packed | Refusal> {
  const { owner, name, files, digest, keywords, displayName, description, license, version, category } = release
  const title = `${owner}/${name}${version === undefined ? '' : `@${version}`}`
  const document = files.find(({ path }) => path === 'SKILL.md')
  const skillMd = document && decodeUtf8(document.bytes)
  if (skillMd === undefined) return refuse('invalid', `${title} has no SKILL.md in UTF-8.`)
  try {
    const rest = files.filter((file) => file !== document)
    checkPackage({ skillMd, files: rest })
    const content = await packContent({ skillMd, files: rest })
    if (digest !== undefined && content.digest !== digest) {
      return refuse('altered', `The files of ${title} are not those of the digest that comes with them.`)
    }
    const given = { name, version, displayName, description, license, category, keywords: keywords && [...keywords] }
    return {
      release,
      fields: readPackageFields(skillMd, given, { requestWins: true, describeFromBody: true }),
      content,
    }
  } catch (error) {
    if (!(error instanceof RegistryError) || error.status >= 500) throw error
    return refuse('invalid', `${title} is no version that this node takes. ${error.message}`)
  }
}

/** Whether a release is a version that is there: by its number, else by its content and date. */
export function isSame(
  row: { readonly version: string; readonly digest: string; readonly published_at: number },
  { release, fields, content }: Packed,
): boolean {
  if (fields.version !== undefined) return row.version === fields.version
  const { publishedAt } = release
  return row.digest === content.digest && (publishedAt === undefined || publishedAt === row.published_at)
}

async function findThere({ database }: CatalogueContext, packed: readonly Packed[]): Promise<Set<Packed>> {
  const there = new Set<Packed>()
  for (let i = 0; i < packed.length; i += lookedUpMax) {
    const part = packed.slice(i, i + lookedUpMax)
    const rows = await database.read
      .selectFrom('versions')
      .innerJoin('skills', 'skills.id', 'versions.skill_id')
      .select(['skills.full_name', 'versions.version', 'versions.digest', 'versions.published_at'])
      .where('versions.digest', 'in', [...new Set(part.map(({ content }) => content.digest))])
      .where('skills.full_name', 'in', [...new Set(part.map(toFullName))])
      .execute()
    for (const one of part)
      if (rows.some((row) => row.full_name === toFullName(one) && isSame(row, one))) there.add(one)
  }
  return there
}

function toFullName({ release: { owner, name } }: Packed): string {
  return `${owner}/${name}`
}
