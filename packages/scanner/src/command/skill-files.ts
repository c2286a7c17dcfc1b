import { type Dirent, realpathSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, posix, relative, sep } from 'node:path'
import { limits } from '@skillstead/protocol'
import { isSkillMd } from '@skillstead/skill-format/archives'
import type { ScanFile } from '../files/scan-file.ts'
import { readLimited, toReadProblem } from './read-limited.ts'
import { leftOut, meaningless, toId, type FolderOptions } from './sample.ts'

interface Reading {
  readonly folder: string
  /** The real paths of the scanned folder and of the skill. */
  readonly top: string
  readonly skill: string
  readonly files: ScanFile[]
  readonly onNote: FolderOptions['onNote']
  /** Bytes that may still be read. */
  bytesLeft: number
}

/**
 * Reads the files of a skill, SKILL.md first, without nested skills. What cannot be read, or exceeds the limits of a
 * version, is a file with the reason in `unread`.
 */
export async function readSkillFiles(
  folder: string,
  skillFile: string,
  top: string,
  { onNote }: FolderOptions,
): Promise<ScanFile[]> {
  const reading = { folder, top, skill: toReal(folder), files: [], onNote, bytesLeft: limits.versionBytesMax }
  await addTarget(reading, skillFile, 'SKILL.md')
  await addFolder(reading, '', (entry) => entry.name !== skillFile)
  return reading.files
}

async function addFolder(reading: Reading, prefix: string, isIncluded: (entry: Dirent) => boolean): Promise<void> {
  const entries = await list(reading, prefix)
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (reading.files.length > limits.versionFilesMax) return
    if (meaningless.has(entry.name) || !isIncluded(entry)) continue
    const path = posix.join(prefix, entry.name)
    if (leftOut.has(entry.name)) await addLeftOut(reading, prefix, path)
    else if (reading.files.length === limits.versionFilesMax) addUnread(reading, path, tooMany)
    else if (entry.isDirectory()) await addNested(reading, path)
    else if (entry.isSymbolicLink()) await addLink(reading, path)
    else if (entry.isFile()) await addFile(reading, path)
    else addUnread(reading, path, 'It is not a regular file.')
  }
}

const tooMany = `The skill has more than ${limits.versionFilesMax} files; this one and the next were not read.`

async function list({ folder, files }: Reading, prefix: string): Promise<Dirent[]> {
  try {
    return await readdir(join(folder, prefix), { withFileTypes: true })
  } catch (error) {
    files.push({ path: prefix || 'SKILL.md', unread: toReadProblem((error as NodeJS.ErrnoException).code) })
    return []
  }
}

/** Adds a folder in the skill, unless it is a skill of its own. */
async function addNested(reading: Reading, path: string): Promise<void> {
  const names = await list(reading, path)
  if (!names.some((entry) => isSkillMd(entry.name) && !entry.isDirectory())) await addFolder(reading, path, () => true)
}

/** A `.git` deeper in a skill can make git run programs: its names are scanned. */
async function addLeftOut({ folder, files, onNote }: Reading, prefix: string, path: string): Promise<void> {
  if (posix.basename(path) === '.git' && prefix !== '') files.push({ path: `${path}/config`, text: '' })
  onNote(toId(join(folder, path)), 'left out.')
}

/** Adds a link, unless its target is in the skill and is read at its own path. */
async function addLink(reading: Reading, path: string): Promise<void> {
  if (!isInside(toReal(join(reading.folder, path)), reading.skill)) await addTarget(reading, path)
}

/** Adds a file that may be a link, if the target is in the scanned folder. */
async function addTarget(reading: Reading, path: string, name?: string): Promise<void> {
  const target = toReal(join(reading.folder, path))
  if (isInside(target, reading.top)) return addFile(reading, path, name)
  addUnread(
    reading,
    name ?? path,
    target === '' ? 'It is a link to nothing.' : 'It is a link out of the scanned folder.',
  )
}

/** The real path of a file; '' if it does not exist. */
function toReal(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return ''
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return path !== '' && way !== '..' && !way.startsWith(`..${sep}`)
}

async function addFile(reading: Reading, path: string, name = path.normalize('NFC')): Promise<void> {
  const read = await readLimited(join(reading.folder, path), limits.fileBytesMax)
  if ('unread' in read) return addUnread(reading, name, read.unread)
  if (read.bytes.length > reading.bytesLeft) return addUnread(reading, name, tooLarge)
  reading.bytesLeft -= read.bytes.length
  reading.files.push({ path: name, bytes: read.bytes })
}

const tooLarge = `The files of the skill are larger than ${limits.versionBytesMax / 1024 / 1024} MiB in total.`

function addUnread({ files }: Reading, path: string, unread: string): void {
  files.push({ path, unread })
}
