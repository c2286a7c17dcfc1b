import { RegistryError } from '@skillstead/protocol'
import { parseSkillMd } from '@skillstead/protocol/skill-md'
import { getBlob } from '../blobs.ts'
import type { Context } from '../context.ts'
import { readFiles } from '../skills/files.ts'
import { getVersion } from '../skills/read.ts'
import type { SkillRow } from '../storage/tables.ts'

/** What the latest version's SKILL.md says after its frontmatter; throws `not_found` where there is no such version. */
export async function readBody(context: Context, skill: SkillRow): Promise<string> {
  if (skill.latest_version === '') throw new RegistryError('not_found', `${skill.full_name} has no version to compare.`)
  const version = await getVersion(context, skill, skill.latest_version)
  const [skillMd] = await readFiles(context.database.read, version.id)
  const bytes = await getBlob(context.database.read, skillMd!.digest)
  return parseSkillMd(new TextDecoder().decode(bytes)).body
}
