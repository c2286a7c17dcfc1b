import { readFile, readdir, stat } from 'node:fs/promises'
import { basename, join, posix, resolve } from 'node:path'
import { limits, type Warning } from '@skillstead/protocol'
import { gitFolderLeftOut } from './git-paths.ts'
import type { ArchiveFile } from './entry-options.ts'
import { decodeText, findTextProblem, type Source, type SourceItem } from './skill-records.ts'

/** Files of version control and other tools, which are not part of a skill. */
export const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules', '.DS_Store', '__MACOSX'])

/**
 * Reads the skills of a folder at any depth: every folder with a SKILL.md is a skill. Symbolic links are never
 * followed.
 */
export function openFolder(folder: string): Source {
  let found = 0
  let done = false
  async function* items(): AsyncGenerator<SourceItem> {
    for await (const item of readSkillTree(resolve(folder), basename(resolve(folder)))) {
      found += 1
      yield item
    }
    done = true
  }
  // The total is known only at the end.
  return { items: items(), share: () => (done ? 1 : found / (found + 10)) }
}

/** The skills of a folder and its subfolders; `path` is the folder's path in the source. */
async function* readSkillTree(folder: string, path: string): AsyncGenerator<SourceItem> {
  const entries = await readdir(folder, { withFileTypes: true })
  const skillFile = entries.find((entry) => entry.isFile() && isSkillMd(entry.name))
  if (skillFile) yield await readSkillFolder(folder, path, skillFile.name)
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.isDirectory() && !skipped.has(entry.name))
      yield* readSkillTree(join(folder, entry.name), posix.join(path, entry.name))
  }
}

async function readSkillFolder(folder: string, path: string, skillFile: string): Promise<SourceItem> {
  const id = posix.join(path, skillFile)
  const { size } = await stat(join(folder, skillFile))
  if (size > limits.fileBytesMax)
    return { id, reason: `SKILL.md is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.` }
  const found: FoundFiles = { files: [], warnings: [], bytes: size }
  const problem = await collectSkillFiles(folder, '', skillFile, found)
  if (problem) return { id, reason: problem }
  const document = await readFile(join(folder, skillFile))
  const reason = findTextProblem(document)
  if (reason !== undefined) return { id, reason }
  const skillMd = decodeText(document)
  return { id, path: id, history: [], skillMd, files: found.files, filesMissing: 0, warnings: found.warnings }
}

interface FoundFiles {
  readonly files: ArchiveFile[]
  readonly warnings: Warning[]
  bytes: number
}

/**
 * The files of a skill in and below its folder, without nested skills. Returns a reason, without reading the files, if
 * there are too many.
 */
async function collectSkillFiles(
  folder: string,
  prefix: string,
  skillFile: string,
  found: FoundFiles,
): Promise<string | undefined> {
  for (const entry of await readdir(join(folder, prefix), { withFileTypes: true })) {
    const path = posix.join(prefix, entry.name)
    if (entry.name === '.git') {
      if (prefix !== '') return toNestedGit(path)
      found.warnings.push(gitFolderLeftOut)
    }
    if (skipped.has(entry.name) || (prefix === '' && entry.name === skillFile)) continue
    if (entry.isDirectory()) {
      const names = await readdir(join(folder, path))
      const problem = names.some(isSkillMd) ? undefined : await collectSkillFiles(folder, path, skillFile, found)
      if (problem) return problem
      continue
    }
    if (!entry.isFile()) continue
    if (found.files.length >= limits.versionFilesMax) return `The skill has more than ${limits.versionFilesMax} files.`
    const { size } = await stat(join(folder, path))
    if (size > limits.fileBytesMax) return `${path} is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.`
    found.bytes += size
    if (found.bytes > limits.versionBytesMax)
      return `The files are larger than ${limits.versionBytesMax / 1024 / 1024} MiB in total.`
    found.files.push({ path: path.normalize('NFC'), bytes: await readFile(join(folder, path)) })
  }
  return undefined
}

/** The reason why a skill with a nested `.git` is refused. */
export function toNestedGit(path: string): string {
  return `${path}: .git is not allowed inside a skill, because git runs programs that it names.`
}

/** `SKILL.md` in any letter case. */
export function isSkillMd(name: string): boolean {
  return name.toLowerCase() === 'skill.md'
}
