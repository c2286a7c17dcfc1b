import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { isAbsolute, join, posix, resolve, sep } from 'node:path'
import { isSkippedName, limits, readErrorCode, RegistryError } from '@skillstead/protocol'
import { readFileMode } from './executable.ts'
import { notUtf8, type SourceEntry } from './select-files.ts'

/** An entry of a folder. Only files have a size. */
export interface FolderEntry extends SourceEntry {
  readonly size: number
  readonly executable?: boolean
}

/** All entries below a folder, with files of any number of skills. */
export interface FolderTree {
  readonly entries: readonly FolderEntry[]
  /** Returns the contents of files. Throws `upstream_failed` for one that changed since. */
  read(files: readonly FolderEntry[]): Promise<Uint8Array[]>
}

const entriesMax = 500_000
const depthMax = 32
/** Files that are read at the same time. */
const readsMax = 16
const tooDeep = `The folder is more than ${depthMax} levels deep. Move it up.`

/**
 * Lists a folder at any depth, without following links, and without reading files. What cannot be listed is an entry
 * with a `problem`. Throws `upstream_failed` for a folder that cannot be read, or has more than 500,000 entries.
 */
export async function openFolderTree(folder: string): Promise<FolderTree> {
  const given = resolve(folder)
  // The folder itself may be a link, since the caller chose it. Links below it are read, but never opened.
  const root = await realpath(given).catch((cause: unknown) => {
    throw new RegistryError('upstream_failed', `The folder ${given} does not exist or cannot be read.`, { cause })
  })
  const entries: FolderEntry[] = []
  await listFolder(root, '', entries)
  const read = async (files: readonly FolderEntry[]) => {
    const contents: Uint8Array[] = []
    for (let i = 0; i < files.length; i += readsMax) {
      const batch = files.slice(i, i + readsMax)
      contents.push(...(await Promise.all(batch.map(({ path }) => readPlainFile(root, path)))))
    }
    return contents
  }
  return { entries, read }
}

async function listFolder(root: string, folder: string, listed: FolderEntry[]): Promise<void> {
  const found = await readdir(join(root, folder), { withFileTypes: true }).catch((cause: unknown) => {
    const detail = `The folder cannot be read (${readErrorCode(cause) ?? 'unknown error'}). Check its permissions.`
    if (folder === '') throw new RegistryError('upstream_failed', `${root}: ${detail}`, { cause })
    listed.push({ path: folder, size: 0, kind: 'folder', problem: detail })
    return []
  })
  // Bun and Deno have no entries with names as bytes, so the bytes are read apart, where a name needs them.
  const isUndecoded = found.some(({ name }) => isDecodedBadly(name))
  const raw = isUndecoded ? await readdir(join(root, folder), { encoding: 'buffer' }) : []
  for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = posix.join(folder, entry.name)
    const kind = readKind(entry)
    if (isDecodedBadly(entry.name)) {
      const name = raw.find((bytes) => bytes.toString() === entry.name)
      listed.push({ path: posix.join(folder, escapeBytes(name ?? entry.name)), size: 0, kind, problem: notUtf8 })
    } else if (kind === 'folder' && !isSkippedName(entry.name)) {
      if (path.split('/').length > depthMax) listed.push({ path, size: 0, kind, problem: tooDeep })
      else await listFolder(root, path, listed)
    } else listed.push({ path, kind, ...(await readDetails(join(root, path), kind)) })
    if (listed.length > entriesMax) {
      const detail = `${root} contains more than ${entriesMax} files. Choose a folder below it.`
      throw new RegistryError('upstream_failed', detail)
    }
  }
}

/** Whether the name stood on disk in another encoding than UTF-8, so that a part of it could not be decoded. */
function isDecodedBadly(name: string): boolean {
  return name.includes('\uFFFD')
}

function escapeBytes(name: Buffer | string): string {
  return Buffer.from(name as string)
    .toString('latin1')
    .replaceAll(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`)
}

function readKind(entry: Dirent): NonNullable<SourceEntry['kind']> {
  if (entry.isFile()) return 'file'
  return entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
}

async function readDetails(place: string, kind: SourceEntry['kind']): Promise<Omit<FolderEntry, 'path' | 'kind'>> {
  try {
    if (kind === 'file') {
      const stats = await lstat(place)
      return { size: stats.size, ...readFileMode(stats) }
    }
    const target = kind === 'link' ? await readlink(place) : undefined
    const isInside = target !== undefined && !isAbsolute(target)
    return { size: 0, target: isInside ? target.split(sep).join('/') : undefined }
  } catch {
    return { size: 0, problem: 'The file vanished while the folder was read. Try again.' }
  }
}

/**
 * Reads a plain file at exactly this path. Checked after opening, because the folder may change at any moment: no link
 * may lead to another file.
 */
async function readPlainFile(root: string, path: string): Promise<Uint8Array> {
  const place = join(root, ...path.split('/'))
  const refuse = (cause?: unknown): never => {
    const detail = `${path} cannot be read, or changed while it was read. Check its permissions, and try again.`
    throw new RegistryError('upstream_failed', detail, { cause })
  }
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(refuse)
  try {
    const stats = await file.stat()
    const isPlain = stats.isFile() && (await realpath(place)) === place
    if (!isPlain || !place.startsWith(root + (root.endsWith(sep) ? '' : sep))) refuse()
    if (stats.size > limits.fileBytesMax) refuse()
    const bytes = Buffer.alloc(stats.size)
    const { bytesRead } = await file.read(bytes, 0, stats.size, 0)
    return bytes.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
