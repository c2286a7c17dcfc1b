import { realpathSync, statSync, type Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path'
import { limits, readErrorCode } from '@skillstead/protocol'
import { isSkillMd, type Unreadable } from '@skillstead/skill-format/archives'
import type { ScanFile } from '../files/scan-file.ts'
import { readLimited, toReadProblem } from './read-limited.ts'
import { toSampleId, type Sample } from '../report/sample.ts'

/** Options for folders. */
export interface FolderOptions {
  /** Receives remarks on paths that are left out on purpose. */
  readonly onNote: (id: string, note: string) => void
  /** Receives every folder before it is listed. Default: ignored. */
  readonly onFolder?: (folder: string) => void
}

/** Folders that are not part of a skill: data of git, installed packages, and metadata in zip files of macOS. */
const leftOut: ReadonlySet<string> = new Set(['.git', 'node_modules', '__MACOSX'])

/**
 * Reads the skills of a folder at any depth: every folder with a SKILL.md is a skill. Folders are listed while they are
 * walked, so that entries may appear and vanish. Throws if the folder itself cannot be listed.
 */
export async function* readFolderSkills(root: string, options: FolderOptions): AsyncGenerator<Sample | Unreadable> {
  const folders = [root]
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await listFolder(folder, options)
    if (typeof entries === 'string') {
      if (folder === root) throw new Error(`${root}: ${entries}`)
      yield { id: toSampleId(folder), reason: entries }
      continue
    }
    const skillFile = findSkillFile(entries)
    if (skillFile !== undefined) {
      const reader = new SkillReader(folder, realpathSync(root), options)
      yield await reader.read(skillFile, entries)
      folders.push(...reader.nested.toReversed())
    } else {
      const inside = entries.filter((entry) => isWalked(join(folder, entry.name), entry, options))
      folders.push(...inside.map(({ name }) => join(folder, name)).toReversed())
    }
  }
}

function isWalked(path: string, entry: Dirent, { onNote }: FolderOptions): boolean {
  const isLeftOut = leftOut.has(entry.name)
  if (isLeftOut && entry.name !== '.git') onNote(toSampleId(path), 'left out.')
  const isLink = !isLeftOut && entry.isSymbolicLink()
  if (isLink && statSync(path, { throwIfNoEntry: false })?.isDirectory())
    onNote(toSampleId(path), 'a link to a folder, which is not followed.')
  return entry.isDirectory() && !isLeftOut
}

/**
 * Reads the skills that contain files, each once. Files outside of skills are left out. A file may be missing, because
 * deleting a file changes its skill, too.
 */
export async function* readEnclosing(
  files: readonly string[],
  options: FolderOptions,
): AsyncGenerator<Sample | Unreadable> {
  const skills = new Map<string, SkillFolder>()
  for (const file of files) {
    let folder = dirname(resolve(file))
    let found = await findSkill(folder, options)
    while (!found && folder !== dirname(folder)) {
      folder = dirname(folder)
      found = await findSkill(folder, options)
    }
    if (found) skills.set(relative('', folder) || '.', found)
  }
  for (const [folder, { skillFile, entries }] of skills) {
    // A link in a skill may lead to any file of the working directory, if the skill is in it.
    const top = realpathSync(isInsideFolder(resolve(folder), resolve('.')) ? '.' : folder)
    yield await new SkillReader(folder, top, options).read(skillFile, entries)
  }
}

interface SkillFolder {
  readonly skillFile: string
  readonly entries: readonly Dirent[]
}

async function findSkill(folder: string, options: FolderOptions): Promise<SkillFolder | undefined> {
  const entries = await listFolder(folder, options)
  const skillFile = typeof entries === 'string' ? undefined : findSkillFile(entries)
  return typeof entries === 'string' || skillFile === undefined ? undefined : { skillFile, entries }
}

function findSkillFile(entries: readonly Dirent[]): string | undefined {
  return entries.find((entry) => isSkillMd(entry.name) && !entry.isDirectory())?.name
}

/** The entries of a folder in order, or why it cannot be listed. */
async function listFolder(folder: string, { onFolder }: FolderOptions): Promise<Dirent[] | string> {
  onFolder?.(folder)
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    return toReadProblem(readErrorCode(error))
  }
}

/** Reads the files of a skill. One that cannot be read, or exceeds the limits, has the reason in `unread`. */
class SkillReader {
  /** The folders in the skill that are skills of their own. */
  readonly nested: string[] = []
  readonly #folder: string
  /** The real paths of the skill, and of the folder with the files that its links may lead to. */
  readonly #own: string
  readonly #top: string
  readonly #options: FolderOptions
  readonly #files: ScanFile[] = []
  #bytesLeft = limits.versionBytesMax

  constructor(folder: string, top: string, options: FolderOptions) {
    this.#folder = folder
    this.#own = toReal(folder)
    this.#top = top
    this.#options = options
  }

  async read(skillFile: string, entries: readonly Dirent[]): Promise<Sample | Unreadable> {
    for (const entry of entries.filter(({ name }) => name === skillFile))
      await this.#addFile(entry, 'SKILL.md', skillFile)
    const [first] = this.#files
    const others = entries.filter(({ name }) => name !== skillFile)
    await this.#addFolder('', others)
    const id = toSampleId(join(this.#folder, skillFile))
    if (first && 'unread' in first) return { id, reason: first.unread }
    return { id, files: this.#files, at: { folder: this.#folder, skillFile } }
  }

  async #addFolder(prefix: string, entries: readonly Dirent[]): Promise<void> {
    for (const entry of entries) {
      const path = posix.join(prefix, entry.name)
      if (leftOut.has(entry.name)) this.#addLeftOut(path)
      else if (entry.isDirectory()) await this.#addNested(path)
      // No agent reads .DS_Store.
      else if (entry.name !== '.DS_Store') await this.#addFile(entry, path.normalize('NFC'), path)
    }
  }

  /** Adds a file to a `.git` below the top folder of a skill, so that rules report it: it can make git run programs. */
  #addLeftOut(path: string): void {
    if (basename(path) === '.git' && path !== '.git') this.#files.push({ path: `${path}/config`, text: '' })
    this.#options.onNote(toSampleId(join(this.#folder, path)), 'left out.')
  }

  async #addNested(path: string): Promise<void> {
    const folder = join(this.#folder, path)
    const entries = await listFolder(folder, this.#options)
    if (typeof entries === 'string') this.#files.push({ path, unread: entries })
    else if (findSkillFile(entries) === undefined) await this.#addFolder(path, entries)
    else this.nested.push(folder)
  }

  async #addFile(entry: Dirent, name: string, path: string): Promise<void> {
    const most = limits.versionFilesMax
    const unread = `The skill has more than ${most} files; this one and the next were not read.`
    if (this.#files.length === most) this.#files.push({ path: name, unread })
    if (this.#files.length > most) return
    const read = entry.isSymbolicLink() ? await this.#readLink(name, path) : await this.#readFile(path)
    if (read) this.#files.push({ path: name, ...read })
  }

  /** Reads a link, unless its target is in the skill and is read at its own path. */
  async #readLink(name: string, path: string) {
    const target = toReal(join(this.#folder, path))
    if (isInsideFolder(target, this.#own) && name !== 'SKILL.md') return undefined
    if (isInsideFolder(target, this.#top)) return this.#readFile(path)
    return { unread: target === '' ? 'It is a link to nothing.' : 'It is a link out of the scanned folder.' }
  }

  async #readFile(path: string) {
    const read = await readLimited(join(this.#folder, path), limits.fileBytesMax)
    if ('unread' in read) return read
    this.#bytesLeft -= read.bytes.length
    const mebibytes = limits.versionBytesMax / 1024 / 1024
    return this.#bytesLeft < 0 ? { unread: `The files of the skill are larger than ${mebibytes} MiB in total.` } : read
  }
}

/** The real path of a file; '' if it does not exist. */
function toReal(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return ''
  }
}

function isInsideFolder(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return path !== '' && way !== '..' && !way.startsWith(`..${sep}`)
}
