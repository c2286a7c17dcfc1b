import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentFile } from '@skillstead/client/verify'
import { limits } from '@skillstead/protocol'
import { readFileMode, readZip } from '@skillstead/skill-format/archives'
import { refuseOtherArchives } from '../files/archive-kinds.ts'

/** Files of version control and file managers, which are not part of a version. */
const skipped: ReadonlySet<string> = new Set(['.git', '.DS_Store'])
const nothing: ReadonlySet<string> = new Set()

/** Reads the files of a version from a folder (all of its files with `whole`), a zip, or a SKILL.md. */
export async function readContentAt(path: string, { whole = false } = {}): Promise<ContentFile[]> {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new Error(`${path} does not exist.`)
  if (stats.isDirectory()) return readContentFolder(path, whole ? nothing : skipped)
  refuseOtherArchives(path, ['.zip'])
  if (/\.zip$/i.test(path)) return stripWrapperFolder(await readZipContent(readBounded(path, limits.archiveBytesMax)))
  return [{ path: 'SKILL.md', bytes: readBounded(path, limits.fileBytesMax) }]
}

/** All files of a zip under their names in the zip. No file is skipped, so that added files are detected. */
export async function readZipContent(bytes: Uint8Array): Promise<ContentFile[]> {
  const problems: { path: string; message: string }[] = []
  const files = await readZip(bytes, { keep: (name) => name, problems })
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join(' '))
  return files
}

/**
 * Reads all files of a folder. Links are refused, not skipped: an agent that reads the folder would follow them. Files
 * have no `executable` where the file system has no modes: such a file system shows all files as executable, SKILL.md
 * too.
 */
function readContentFolder(folder: string, without: ReadonlySet<string>): ContentFile[] {
  const files: ContentFile[] = []
  let left = limits.versionBytesMax
  let hasModes = true
  for (const path of listFolder(folder, '', without)) {
    if (files.length >= limits.versionFilesMax)
      throw new Error(`${folder} has more than ${limits.versionFilesMax} files.`)
    const name = path.toLowerCase() === 'skill.md' ? 'SKILL.md' : path.normalize('NFC')
    const bytes = readBounded(join(folder, path), limits.fileBytesMax)
    left -= bytes.length
    if (left < 0) throw new Error(`The files of ${folder} are larger than ${limits.versionBytesMax} bytes in total.`)
    const mode = readFileMode(statSync(join(folder, path)))
    if (name === 'SKILL.md' && mode.executable) hasModes = false
    files.push({ path: name, bytes, ...mode })
  }
  return hasModes ? files : files.map(({ path, bytes }) => ({ path, bytes }))
}

/** Reads a file. Throws if the file is larger than `bytesMax`. */
function readBounded(path: string, bytesMax: number): Uint8Array {
  const { size } = statSync(path)
  if (size > bytesMax) throw new Error(`${path} is too large: ${size} bytes, at most ${bytesMax} are allowed.`)
  return new Uint8Array(readFileSync(path))
}

function* listFolder(folder: string, prefix: string, without: ReadonlySet<string>): Generator<string> {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    if (without.has(entry.name)) continue
    const path = prefix + entry.name
    if (entry.isDirectory()) yield* listFolder(folder, `${path}/`, without)
    else if (entry.isFile()) yield path
    else throw new Error(`${join(folder, path)} is not a regular file; versions contain only regular files.`)
  }
}

/** Whether a file of a folder is ignored. */
export function isJunk(path: string): boolean {
  return path.split('/').some((name) => skipped.has(name))
}

/** Removes the folder in which some archives wrap all files. */
function stripWrapperFolder(files: readonly ContentFile[]): ContentFile[] {
  const [first] = files
  const folder = first?.path.slice(0, first.path.indexOf('/') + 1) ?? ''
  if (folder === '' || !files.every(({ path }) => path.startsWith(folder))) return [...files]
  return files.map((file) => ({ ...file, path: file.path.slice(folder.length) }))
}
