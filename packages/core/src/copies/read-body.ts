import { RegistryError } from '@skillstead/protocol'
import { getBlob } from '../blobs.ts'
import type { Context } from '../context.ts'
import { getVersion } from '../skills/read.ts'
import type { SkillRow } from '../storage/tables.ts'
import { decodeSkillMd, readWords } from './sketch.ts'

/** A SKILL.md as far as it is compared. */
export interface ComparedDocument {
  readonly skillMd: string
  /** Of its body. */
  readonly words: Int32Array
}

/** The latest version's SKILL.md; throws `not_found` where there is no such version. */
export async function readLatest(context: Context, skill: SkillRow): Promise<ComparedDocument> {
  if (skill.latest_version === '') throw new RegistryError('not_found', `${skill.full_name} has no version to compare.`)
  const { id } = await getVersion(context, skill, skill.latest_version)
  const digests = await readDigests(context, [id])
  return readDocument(context, digests.get(id)!)
}

/** The digests of versions' SKILL.md, by the ids of the versions. */
export async function readDigests(context: Context, versionIds: readonly string[]): Promise<Map<string, string>> {
  if (versionIds.length === 0) return new Map()
  const rows = await context.database.read
    .selectFrom('version_files')
    .select(['version_id', 'digest'])
    .where('version_id', 'in', versionIds)
    .where('path', '=', 'SKILL.md')
    .execute()
  return new Map(rows.map(({ version_id, digest }) => [version_id, digest]))
}

/** A SKILL.md by the digest of its bytes. */
export async function readDocument(context: Context, digest: string): Promise<ComparedDocument> {
  const bytes = await getBlob(context.database.read, digest)
  const skillMd = decodeSkillMd(bytes)
  return { skillMd, words: readWords(skillMd) }
}
