import { readFile, readdir, readlink, stat } from 'node:fs/promises'
import { basename, isAbsolute, join, posix, resolve, sep } from 'node:path'
import { limits } from '@skillstead/protocol'
import type { ArchiveFile } from './entry-options.ts'
import { readFileMode } from './executable.ts'
import { gitAttributes, isGitAttributes } from './git-paths.ts'
import {
  findProblem,
  isSkillMd,
  isSkippedName,
  notUtf8,
  selectSkills,
  type SelectedSkill,
  type SourceEntry,
} from './select-files.ts'
import { decodeText, findTextProblem, type Source, type SourceItem } from './skill-records.ts'

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

/** The entries of a folder, by name. */
export async function readEntries(folder: string): Promise<FolderEntry[]> {
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

/** The skills of a folder and its subfolders; `path` is the folder's path in the source, `isOfNode` as for {@link selectSkills}. */
async function* readSkillTree(folder: string, path: string, isOfNode = false): AsyncGenerator<SourceItem> {
  const entries = await readEntries(folder)
  const isBelowNode = isOfNode || isGitAttributes(await readGitAttributes(folder, entries))
  if (hasSkillMd(entries)) yield await readSkillFolder(folder, path, entries, isBelowNode)
  for (const { kind, name, isUtf8: isText } of entries) {
    if (kind !== 'folder' || isSkippedName(name)) continue
    const id = posix.join(path, name)
    if (isText) yield* readSkillTree(join(folder, name), id, isBelowNode)
    else yield { id, reason: notUtf8 }
  }
}

/** Whether a folder with these entries is a skill. */
export function hasSkillMd(entries: readonly FolderEntry[]): boolean {
  return entries.some(({ kind, name }) => (kind === 'file' || kind === 'link') && isSkillMd(name))
}

async function readSkillFolder(
  folder: string,
  path: string,
  entries: readonly FolderEntry[],
  isOfNode: boolean,
): Promise<SourceItem> {
  const skill = await selectFolder(folder, entries, isOfNode)
  const id = posix.join(path, skill.document)
  const wanted = [{ path: skill.document, entry: skill.skillMd }, ...skill.files]
  const problem = findProblem(skill) ?? (await findSizeProblem(folder, wanted))
  if (problem !== undefined) return { id, reason: problem }
  const document = await readFile(join(folder, skill.skillMd.path))
  const reason = findTextProblem(document)
  if (reason !== undefined) return { id, reason }
  const files: ArchiveFile[] = []
  for (const file of skill.files) {
    const place = join(folder, file.entry.path)
    const mode = readFileMode(await stat(place))
    files.push({ path: file.path.normalize('NFC'), bytes: await readFile(place), ...mode })
  }
  const { omitted, changed } = skill
  return { id, path: id, history: [], skillMd: decodeText(document), files, filesMissing: 0, omitted, changed }
}

/** Decides what belongs to the skill of a folder, which has a SKILL.md. Does not read the files. */
export async function selectFolder(
  folder: string,
  entries?: readonly FolderEntry[],
  isOfNode?: boolean,
): Promise<SelectedSkill<SourceEntry>> {
  const read = entries ?? (await readEntries(folder))
  const listed: SourceEntry[] = []
  await listEntries(folder, '', read, listed)
  const attributes = await readGitAttributes(folder, read)
  const marked = listed.map((entry) => (entry.path === attributes.path ? { ...entry, ...attributes } : entry))
  return selectSkills(marked, { isOfNode }).find((skill) => skill.folder === '')!
}

/** Lists the entries of a skill, and of its nested skills only the SKILL.md. Does not follow links. */
async function listEntries(
  folder: string,
  prefix: string,
  entries: readonly FolderEntry[],
  listed: SourceEntry[],
): Promise<void> {
  const isNested = prefix !== '' && hasSkillMd(entries)
  for (const { name, kind, isUtf8: isText } of entries) {
    const path = posix.join(prefix, name)
    if (isNested && !isSkillMd(name)) continue
    if (!isText) listed.push({ path, kind, problem: notUtf8 })
    else if (kind === 'link') listed.push({ path, kind, target: await readTarget(join(folder, path)) })
    else if (kind !== 'folder' || isSkippedName(name)) listed.push({ path, kind })
    else await listEntries(folder, path, await readEntries(join(folder, path)), listed)
  }
}

/** The `.gitattributes` of a folder, with its content if a node may have written it. */
async function readGitAttributes(folder: string, entries: readonly FolderEntry[]) {
  const path = '.gitattributes'
  const place = join(folder, path)
  const isFile = entries.some(({ name, kind }) => name === path && kind === 'file')
  const isOwnSize = isFile && (await stat(place)).size === gitAttributes.length
  return { path, ...(isOwnSize && { bytes: await readFile(place) }) }
}

async function readTarget(place: string): Promise<string> {
  const target = await readlink(place)
  // A drive of Windows is an absolute path too.
  return isAbsolute(target) ? `/${target}` : target.split(sep).join('/')
}

/** Checks numbers and sizes before any file is read. */
async function findSizeProblem(
  folder: string,
  files: SelectedSkill<SourceEntry>['files'],
): Promise<string | undefined> {
  if (files.length > limits.versionFilesMax) return `The skill has more than ${limits.versionFilesMax} files.`
  let bytes = 0
  for (const { path, entry } of files) {
    const { size } = await stat(join(folder, entry.path))
    if (size > limits.fileBytesMax) return `${path} is larger than ${limits.fileBytesMax / 1024 / 1024} MiB.`
    bytes += size
  }
  return bytes > limits.versionBytesMax
    ? `The files are larger than ${limits.versionBytesMax / 1024 / 1024} MiB in total.`
    : undefined
}
