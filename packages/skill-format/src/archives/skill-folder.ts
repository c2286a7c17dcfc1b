import { readFile, readdir, realpath, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { limits, type Warning } from '@skillstead/protocol'
import { gitFolderLeftOut } from './git-paths.ts'
import type { ArchiveFile } from './entry-options.ts'
import { readFileMode } from './executable.ts'
import { decodeText, findTextProblem, type Source, type SourceItem } from './skill-records.ts'

/** Files of version control and other tools, which are not part of a skill. */
export const skipped: ReadonlySet<string> = new Set(['.git', 'node_modules', '.DS_Store', '__MACOSX'])

/**
 * Reads the skills of a folder at any depth: every folder with a SKILL.md is a skill. Symbolic links are followed only
 * to files of the same skill.
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

/** An entry of a folder. A name that is not UTF-8 has its bytes escaped. */
interface FolderEntry {
  readonly name: string
  readonly isUtf8: boolean
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

async function readEntries(folder: string): Promise<FolderEntry[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  // Bun and Deno have no entries with names as bytes, so the bytes are read apart, where a name needs them.
  const bytes = entries.some(({ name }) => isDecodedBadly(name)) ? await readdir(folder, { encoding: 'buffer' }) : []
  const listed = entries.map((entry): FolderEntry => {
    const isText = !isDecodedBadly(entry.name)
    const raw = isText ? undefined : bytes.find((candidate) => candidate.toString() === entry.name)
    const kind = entry.isFile() ? 'file' : entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
    return { name: raw ? escapeBytes(raw) : entry.name, isUtf8: isText, kind }
  })
  return listed.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Whether the name stood on disk in another encoding than UTF-8, so that a part of it could not be decoded. */
function isDecodedBadly(name: string): boolean {
  return name.includes('\uFFFD')
}

function escapeBytes(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

/** The skills of a folder and its subfolders; `path` is the folder's path in the source. */
async function* readSkillTree(folder: string, path: string): AsyncGenerator<SourceItem> {
  const entries = await readEntries(folder)
  const skillFile = entries.find(({ kind, name }) => kind === 'file' && isSkillMd(name))
  if (skillFile) yield await readSkillFolder(folder, path, skillFile.name, entries)
  for (const { kind, name, isUtf8: isText } of entries) {
    if (kind !== 'folder' || skipped.has(name)) continue
    const id = posix.join(path, name)
    if (isText) yield* readSkillTree(join(folder, name), id)
    else yield { id, reason: notUtf8 }
  }
}

const notUtf8 = 'The name is not UTF-8. Rename the file or folder.'

async function readSkillFolder(
  folder: string,
  path: string,
  skillFile: string,
  entries: readonly FolderEntry[],
): Promise<SourceItem> {
  const id = posix.join(path, skillFile)
  const { size } = await stat(join(folder, skillFile))
  if (size > limits.fileBytesMax)
    return { id, reason: `SKILL.md is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.` }
  const found: FoundFiles = { folder, skillFile, root: await realpath(folder), files: [], warnings: [], bytes: size }
  const problem = await collectSkillFiles(found, '', entries)
  if (problem) return { id, reason: problem }
  const document = await readFile(join(folder, skillFile))
  const reason = findTextProblem(document)
  if (reason !== undefined) return { id, reason }
  const skillMd = decodeText(document)
  return { id, path: id, history: [], skillMd, files: found.files, filesMissing: 0, warnings: found.warnings }
}

interface FoundFiles {
  readonly folder: string
  /** The name of SKILL.md in the folder, which may be in another case. */
  readonly skillFile: string
  /** The folder without symbolic links in its path. */
  readonly root: string
  readonly files: ArchiveFile[]
  readonly warnings: Warning[]
  bytes: number
}

/** A folder may have any number of entries that are left out. */
const warningsMax = 100

function warnOfFile({ warnings }: FoundFiles, code: 'file_left_out' | 'link_followed', message: string): void {
  if (warnings.length < warningsMax) warnings.push({ code, message })
}

function leaveOut(found: FoundFiles, path: string, sentence: string): void {
  warnOfFile(found, 'file_left_out', `${path}: ${sentence}`)
}

/**
 * The files of a skill in and below its folder, without nested skills. Entries that are left out are in the warnings.
 * Returns a reason, without reading the files, if the skill cannot be published.
 */
async function collectSkillFiles(
  found: FoundFiles,
  prefix: string,
  entries: readonly FolderEntry[],
): Promise<string | undefined> {
  for (const { name, kind, isUtf8: isText } of entries) {
    const path = posix.join(prefix, name)
    if (!isText) return `${path}: ${notUtf8}`
    if (name === '.git') {
      if (prefix !== '') return toNestedGit(path)
      found.warnings.push(gitFolderLeftOut)
    } else if (skipped.has(name)) leaveOut(found, path, 'Files of this name are no part of a skill, and were left out.')
    else if (path !== found.skillFile) {
      const problem = await collectEntry(found, path, kind)
      if (problem) return problem
    }
  }
  return undefined
}

async function collectEntry(found: FoundFiles, path: string, kind: FolderEntry['kind']): Promise<string | undefined> {
  const place = join(found.folder, path)
  if (kind === 'file') return addFile(found, path, place)
  if (kind === 'link') return followLink(found, path)
  if (kind === 'folder') {
    const entries = await readEntries(place)
    if (!entries.some(({ name }) => isSkillMd(name))) return collectSkillFiles(found, path, entries)
    leaveOut(found, path, 'The folder has a SKILL.md, which makes it a skill of its own, and was left out.')
  } else leaveOut(found, path, 'The entry is neither a file nor a folder, and was left out.')
  return undefined
}

/** Takes the content of a file of the same skill that a symbolic link leads to; leaves out other links. */
async function followLink(found: FoundFiles, path: string): Promise<string | undefined> {
  let target: string
  try {
    target = await realpath(join(found.folder, path))
  } catch {
    leaveOut(found, path, 'The link leads to no file, and was left out.')
    return undefined
  }
  const inside = relative(found.root, target)
  const isInside =
    inside !== '' && !isAbsolute(inside) && !inside.split(sep).some((name) => name === '..' || skipped.has(name))
  if (!isInside || !(await stat(target)).isFile()) {
    leaveOut(found, path, `The link leads ${isInside ? 'to a folder' : 'out of the skill'}, and was left out.`)
    return undefined
  }
  const shown = inside.split(sep).join('/')
  warnOfFile(found, 'link_followed', `${path}: The link to ${shown} became a file with the content of ${shown}.`)
  return addFile(found, path, target)
}

async function addFile(found: FoundFiles, path: string, place: string): Promise<string | undefined> {
  if (found.files.length >= limits.versionFilesMax) return `The skill has more than ${limits.versionFilesMax} files.`
  const stats = await stat(place)
  const { size } = stats
  if (size > limits.fileBytesMax) return `${path} is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.`
  found.bytes += size
  if (found.bytes > limits.versionBytesMax)
    return `The files are larger than ${limits.versionBytesMax / 1024 / 1024} MiB in total.`
  found.files.push({ path: path.normalize('NFC'), bytes: await readFile(place), ...readFileMode(stats) })
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
