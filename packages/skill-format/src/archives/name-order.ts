import { posix } from 'node:path'
import { isSkillName } from '@skillstead/protocol'
import { readSkillFields } from '../skill-md/fields.ts'
import { parseSkillMd } from '../skill-md/parse.ts'
import { isUnreadable, type SkillRecord, type SourceItem } from './skill-records.ts'

/**
 * Reads skills one by one, and yields skills with a valid name first, so that no name derived from an invalid name
 * takes a valid one. The order is otherwise kept. Skills with an invalid name are read twice, so that none waits in
 * memory.
 */
export async function* readValidNamesFirst<Skill>(
  skills: readonly Skill[],
  read: (skill: Skill) => Promise<SourceItem>,
): AsyncGenerator<SourceItem> {
  const later: Skill[] = []
  for (const skill of skills) {
    const item = await read(skill)
    if (isUnreadable(item) || hasValidName(item)) yield item
    else later.push(skill)
  }
  for (const skill of later) yield await read(skill)
}

/** Whether the name of a skill is valid as its author wrote it; without a name, whether the name of its folder is. */
export function hasValidName({ name: given, path, skillMd }: SkillRecord): boolean {
  if (given !== undefined) return isSkillName(given)
  // Almost every document has such a name. Parsing each document once more would make imports slower.
  const plain = plainNamePattern.exec(skillMd)?.[1]
  if (plain !== undefined && isSkillName(plain)) return true
  const { name, displayName } = readSkillFields(parseSkillMd(skillMd))
  return name !== undefined || (displayName === undefined && isSkillName(posix.basename(posix.dirname(path))))
}

/** A name without quotes on the first line of the frontmatter. */
const plainNamePattern = /^---\r?\nname: ([a-z0-9-]+)\r?\n/
