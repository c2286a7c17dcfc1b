import { readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isSkillMd, type Unreadable } from '@skillstead/skill-format/archives'
import { readSkill } from './read-skills.ts'
import type { SampleOptions } from './samples.ts'
import type { Sample } from './sample.ts'

/**
 * Reads the skills that contain files, each once. Files outside of skills are left out. A file may be missing: its skill
 * has changed all the same.
 */
export async function* readEnclosing(
  files: readonly string[],
  options: SampleOptions,
): AsyncGenerator<Sample | Unreadable> {
  const found = new Map<string, ReturnType<typeof findSkill>>()
  const done = new Set<string>()
  for (const file of files) {
    const skill = findSkill(dirname(resolve(file)), found)
    if (skill === undefined || done.has(skill.folder)) continue
    done.add(skill.folder)
    const folder = relative('', skill.folder) || '.'
    // A link may lead to a file of the repository.
    yield await readSkill(folder, skill.name, folder.startsWith('..') ? folder : '.', options)
  }
}

/** The nearest folder with a SKILL.md, upwards from a folder. */
function findSkill(
  folder: string,
  found: Map<string, { folder: string; name: string } | undefined>,
): { folder: string; name: string } | undefined {
  if (found.has(folder)) return found.get(folder)
  const name = findSkillFile(folder)
  const parent = dirname(folder)
  const skill = name !== undefined ? { folder, name } : parent === folder ? undefined : findSkill(parent, found)
  found.set(folder, skill)
  return skill
}

function findSkillFile(folder: string): string | undefined {
  try {
    const entries = readdirSync(join(folder), { withFileTypes: true })
    return entries.find((entry) => isSkillMd(entry.name) && !entry.isDirectory())?.name
  } catch {
    // A folder that was removed with its last file.
    return undefined
  }
}
