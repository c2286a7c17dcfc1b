import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ContentFile } from '@skillstead/client/verify'
import { readZip } from '@skillstead/skill-format/archives'
import { limits } from '@skillstead/protocol'

const bounds = {
  filesMax: limits.versionFilesMax,
  fileBytesMax: limits.fileBytesMax,
  versionBytesMax: limits.versionBytesMax,
}
/** What is left out of a folder: what version control and file managers put into it, and no version needs. */
const skipped: ReadonlySet<string> = new Set(['.git', '.DS_Store'])
const nothing: ReadonlySet<string> = new Set()

/** The files of a version as they lie on a disk: a folder, with `whole` all that is in it, a zip, or a SKILL.md alone. */
export async function readContentAt(path: string, { whole = false } = {}): Promise<ContentFile[]> {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats) throw new Error(`There is nothing at ${path}.`)
  if (stats.isDirectory()) return readFolder(path, whole ? nothing : skipped)
  if (/\.zip$/i.test(path)) return stripFolder(await readZipContent(readBounded(path, limits.archiveBytesMax)))
  return [{ path: 'SKILL.md', bytes: readBounded(path, bounds.fileBytesMax) }]
}

/** Every file of a zip as it is named there: nothing is left out that somebody could have put in. */
export async function readZipContent(bytes: Uint8Array): Promise<ContentFile[]> {
  const problems: { path: string; message: string }[] = []
  const files = await readZip(bytes, { limits: bounds, keep: (name) => name, problems })
  if (problems.length > 0) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join(' '))
  return files
}

/** Links are refused rather than passed over: whoever reads the folder would follow them. */
function readFolder(folder: string, without: ReadonlySet<string>): ContentFile[] {
  const files: ContentFile[] = []
  let left = bounds.versionBytesMax
  for (const path of listFolder(folder, '', without)) {
    if (files.length >= bounds.filesMax) throw new Error(`${folder} has more than ${bounds.filesMax} files.`)
    const name = path.toLowerCase() === 'skill.md' ? 'SKILL.md' : path.normalize('NFC')
    const bytes = readBounded(join(folder, path), bounds.fileBytesMax)
    left -= bytes.length
    if (left < 0) throw new Error(`The files of ${folder} have more than ${bounds.versionBytesMax} bytes.`)
    files.push({ path: name, bytes })
  }
  return files
}

/** What is larger than any version is not read at all. */
function readBounded(path: string, bytesMax: number): Uint8Array {
  const { size } = statSync(path)
  if (size > bytesMax) throw new Error(`${path} has ${size} bytes; ${bytesMax} are allowed.`)
  return new Uint8Array(readFileSync(path))
}

function* listFolder(folder: string, prefix: string, without: ReadonlySet<string>): Generator<string> {
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    if (without.has(entry.name)) continue
    const path = prefix + entry.name
    if (entry.isDirectory()) yield* listFolder(folder, `${path}/`, without)
    else if (entry.isFile()) yield path
    else throw new Error(`${join(folder, path)} is no plain file, which no version holds.`)
  }
}

/** Whether a file is left out of a folder. */
export function isJunk(path: string): boolean {
  return path.split('/').some((name) => skipped.has(name))
}

/** Some archives have one folder around everything. */
function stripFolder(files: readonly ContentFile[]): ContentFile[] {
  const [first] = files
  const folder = first?.path.slice(0, first.path.indexOf('/') + 1) ?? ''
  if (folder === '' || !files.every(({ path }) => path.startsWith(folder))) return [...files]
  return files.map(({ path, bytes }) => ({ path: path.slice(folder.length), bytes }))
}
