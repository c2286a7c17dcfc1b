import { readdir } from 'node:fs/promises'
import { realpathSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'
import { isSkillMd, type Unreadable } from '@skillstead/skill-format/archives'
import { leftOut, toId, type FolderOptions, type Sample } from './sample.ts'
import { toReadProblem } from './read-limited.ts'
import { readSkillFiles } from './skill-files.ts'

/**
 * Reads the skills of a folder at any depth: every folder with a SKILL.md is a skill. Folders are listed while they are
 * walked, so that entries may appear and vanish. Throws if the folder itself cannot be listed.
 */
export async function* readSkills(root: string, options: FolderOptions): AsyncGenerator<Sample | Unreadable> {
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries: Dirent[]
    try {
      entries = await readdir(folder, { withFileTypes: true })
    } catch (error) {
      const problem = toReadProblem((error as NodeJS.ErrnoException).code)
      if (folder === root) throw new Error(`${root}: ${problem}`, { cause: error })
      yield { id: toId(folder), reason: problem }
      continue
    }
    options.onFolder?.(folder)
    const skillFile = entries.find((entry) => isSkillMd(entry.name) && !entry.isDirectory())
    if (skillFile && (options.isWanted?.(folder) ?? true)) yield await readSkill(folder, skillFile.name, root, options)
    const inside = entries.filter((entry) => isWalked(folder, entry, options, skillFile !== undefined))
    for (const { name } of inside.toSorted((a, b) => (a.name < b.name ? 1 : -1))) folders.push(join(folder, name))
  }
}

function isWalked(folder: string, entry: Dirent, { onNote }: FolderOptions, isSkill: boolean): boolean {
  const id = toId(join(folder, entry.name))
  if (leftOut.has(entry.name)) {
    // The reader of a skill's files reports those in a skill.
    if (!isSkill && entry.name !== '.git') onNote(id, 'left out.')
    return false
  }
  if (entry.isSymbolicLink() && !isSkill && isFolder(join(folder, entry.name)))
    onNote(id, 'a link to a folder, which is not followed.')
  return entry.isDirectory()
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Reads the skill of a folder. Links are followed to files in the folder `top`. */
export async function readSkill(
  folder: string,
  skillFile: string,
  top: string,
  options: FolderOptions,
): Promise<Sample | Unreadable> {
  const id = toId(join(folder, skillFile))
  const files = await readSkillFiles(folder, skillFile, realpathSync(top), options)
  const [first] = files
  if (first && 'unread' in first) return { id, reason: first.unread }
  return { id, files, at: { folder, skillFile } }
}
