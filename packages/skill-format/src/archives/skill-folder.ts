import { basename, posix, resolve } from 'node:path'
import { openFolderTree, type FolderEntry } from './folder-tree.ts'
import { readValidNamesFirst } from './name-order.ts'
import { selectSkills, type SelectedSkill } from './select-files.ts'
import { readSourceItem, type Source, type SourceItem } from './skill-records.ts'

/**
 * Reads the skills of a folder at any depth: every folder with a SKILL.md is a skill. Symbolic links are followed only
 * to files of the same skill.
 */
export function openFolder(folder: string): Source {
  let share = 0
  async function* items(): AsyncGenerator<SourceItem> {
    const name = basename(resolve(folder))
    const { entries, isOfNode, read } = await openFolderTree(folder)
    const skills = selectSkills(entries, { isOfNode })
    yield* readValidNamesFirst(skills, (skill) => {
      share = Math.min(1, share + 1 / skills.length)
      const id = posix.join(name, skill.document)
      return readSourceItem(skill, { id, path: id }, read)
    })
    for (const { path, reason } of findUnreadFolders(entries)) yield { id: posix.join(name, path), reason }
    share = 1
  }
  return { items: items(), share: () => share }
}

/** The folders of a source that could not be read, and may have skills. */
export function findUnreadFolders(entries: readonly FolderEntry[]) {
  return entries.flatMap(({ path, kind, problem }) =>
    kind === 'folder' && problem !== undefined ? [{ path, reason: problem }] : [],
  )
}

/** Decides what belongs to the skill of a folder, which has a SKILL.md. Does not read the files. */
export async function selectFolder(folder: string): Promise<SelectedSkill<FolderEntry>> {
  const { entries, isOfNode } = await openFolderTree(folder)
  return selectSkills(entries, { isOfNode }).find((skill) => skill.folder === '')!
}
