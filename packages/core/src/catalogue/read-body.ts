import { RegistryError } from '@skillstead/protocol'
import { findBlob, getBlob } from '../storage/blobs.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { getVersion } from './read-skill.ts'
import type { SkillRow } from '../storage/tables.ts'
import { decodeSkillMd, readWords } from './sketch.ts'

/** A SKILL.md up to the length that is compared. */
export interface ComparedDocument {
  readonly skillMd: string
  /** The words of its body. */
  readonly words: Int32Array
}

/** The latest version's SKILL.md. Throws `not_found` if there is no such version. */
export async function readLatest(context: CatalogueContext, skill: SkillRow): Promise<ComparedDocument> {
  if (skill.latest_version === '') throw new RegistryError('not_found', `${skill.full_name} has no version to compare.`)
  const { id } = await getVersion(context, skill, skill.latest_version)
  const sources = await readSources(context, [id])
  return readDocument(context, sources.get(id)!.digest)
}

/** A SKILL.md that is not read yet. */
interface Source {
  readonly digest: string
  readonly size: number
}

/** The SKILL.md of versions, by version id. */
export async function readSources(
  context: CatalogueContext,
  versionIds: readonly string[],
): Promise<Map<string, Source>> {
  if (versionIds.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('version_files')
    .select(['version_id', 'digest', 'size'])
    .where('version_id', 'in', versionIds)
    .where('path', '=', 'SKILL.md')
    .execute()
  return new Map(rows.map(({ version_id, ...source }) => [version_id, source]))
}

/** A SKILL.md by the digest of its bytes. */
async function readDocument(context: CatalogueContext, digest: string): Promise<ComparedDocument> {
  const skillMd = decodeSkillMd(await getBlob(context.database.read, digest))
  return { skillMd, words: readWords(skillMd) }
}

/**
 * A SKILL.md for a comparison. Undefined if its bytes are lost or damaged: doctor reports that, and the comparison goes
 * on without it.
 */
export async function findSkillMd(context: CatalogueContext, digest: string): Promise<string | undefined> {
  try {
    const bytes = await findBlob(context.database.read, digest)
    return bytes && decodeSkillMd(bytes)
  } catch (error) {
    if (isDamage(error)) return undefined
    throw error
  }
}

/** An error of zlib, as opposed to a busy database. */
function isDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')
}
