import { join } from 'node:path'
import { cutList, toOneLine } from '@skillstead/protocol'
import {
  findUnreadFolders,
  isUnreadable,
  openFolderTree,
  readSourceItem,
  selectSkills,
  type SkillRecord,
} from '@skillstead/skill-format/archives'

/**
 * Reads the only skill of a folder, with the files that a publish would take. Throws for a folder with no skill or
 * several skills; `advice` is the sentence on what to do with several.
 */
export async function readSkillFolder(path: string, advice: string): Promise<SkillRecord> {
  const { entries, isOfNode, read } = await openFolderTree(path)
  const skills = selectSkills(entries, { isOfNode })
  const [skill] = skills
  if (!skill) {
    const [unread] = findUnreadFolders(entries)
    if (unread) throw new Error(`${unread.path}: ${unread.reason}`)
    throw new Error(`${path} contains no SKILL.md. Pass the folder of a skill.`)
  }
  if (skills.length > 1 && skill.folder !== '') {
    const { shown, more } = cutList(skills, skillsShownMax)
    const names = shown.map(({ folder }) => toOneLine(folder)).join(', ')
    const others = more > 0 ? ` and ${more} more` : ''
    throw new Error(`${path} contains ${skills.length} skills: ${names}${others}. ${advice}`)
  }
  const id = join(path, skill.document)
  const item = await readSourceItem(skill, { id, path: id }, read)
  if (isUnreadable(item)) throw new Error(`${item.id}: ${item.reason}`)
  return item
}

const skillsShownMax = 10
