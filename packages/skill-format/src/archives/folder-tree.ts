import { closeSync, constants, existsSync, fstatSync, open, read, type Dirent, type Stats } from 'node:fs'
import { lstat, readdir, readlink, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { isSkippedName, limits, readErrorCode, RegistryError } from '@skillstead/protocol'
import { readFileMode } from './executable.ts'
import { escapeBytes } from './file-paths.ts'
import { isGitAttributes, mayBeGitAttributes } from './git-paths.ts'
import { notUtf8, type SourceEntry } from './select-files.ts'

/** An entry of a folder. Only files have a size. */
export interface FolderEntry extends SourceEntry {
  readonly size: number
  readonly executable?: boolean
}

/** All entries below a folder, with files of any number of skills. */
export interface FolderTree {
  readonly entries: readonly FolderEntry[]
  /** Whether the folder is in a git checkout of a node's repository, below the root of the checkout. */
  readonly isOfNode: boolean
  /** Returns the contents of files. Throws `upstream_failed` for a file that changed since the walk. */
  read(files: readonly FolderEntry[]): Promise<Uint8Array[]>
}

/** A walk over a folder: what it found so far, and which file it saw at each path. */
interface Walk {
  readonly root: string
  readonly entries: FolderEntry[]
  readonly seen: Map<string, Pick<Stats, 'dev' | 'ino'>>
}

const entriesMax = 500_000
const depthMax = 32
/** Files that are read at the same time. */
const readsMax = 16
const tooDeep = `The folder is more than ${depthMax} levels deep. Move it up.`
const vanished = 'The file vanished while the folder was read. Try again.'
const replaced = 'The folder was replaced by a link while it was read. Try again.'

/**
 * Lists a folder at any depth, without following links, and without reading files other than a `.gitattributes` of a
 * node. What cannot be listed is an entry with a `problem`. Throws `upstream_failed` for a folder that cannot be read,
 * or has more than 500,000 entries.
 */
export async function openFolderTree(folder: string): Promise<FolderTree> {
  const given = resolve(folder)
  // The folder itself may be a link, since the caller chose it. Links below it are read, but never opened.
  const root = await realpath(given).catch((cause: unknown) => {
    throw new RegistryError('upstream_failed', `The folder ${given} does not exist or cannot be read.`, { cause })
  })
  const walk: Walk = { root, entries: [], seen: new Map() }
  await listFolder(walk, '')
  return {
    entries: walk.entries,
    isOfNode: await isBelowNodeCheckout(root),
    read: (files) => mapInBatches(files, ({ path }) => readPlainFile(walk, path)),
  }
}

async function listFolder(walk: Walk, folder: string): Promise<void> {
  const { root, entries: listed } = walk
  const place = join(root, folder)
  const found = await readdir(place, { withFileTypes: true }).catch((cause: unknown) => {
    const detail = `The folder cannot be read (${readErrorCode(cause) ?? 'unknown error'}). Check its permissions.`
    if (folder === '') throw new RegistryError('upstream_failed', `${root}: ${detail}`, { cause })
    listed.push({ path: folder, size: 0, kind: 'folder', problem: detail })
    return []
  })
  if (listed.length + found.length > entriesMax) {
    const detail = `${root} contains more than ${entriesMax} files. Choose a folder below it.`
    throw new RegistryError('upstream_failed', detail)
  }
  // Bun and Deno cannot list entries with names as bytes, so a second call reads the bytes if a name needs them.
  const isUndecoded = found.some(({ name }) => isDecodedBadly(name))
  const raw = isUndecoded ? await readdir(place, { encoding: 'buffer' }) : []
  const sorted = found.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const entries = await mapInBatches(sorted, (entry) => toFolderEntry(walk, folder, entry, raw))
  // Refuse a folder that was replaced by a link meanwhile. One check after its files were seen is enough, because only
  // the files that were seen are read later.
  if (folder !== '' && found.length > 0 && (await realpath(place).catch(() => undefined)) !== place) {
    listed.push({ path: folder, size: 0, kind: 'folder', problem: replaced })
    return
  }
  for (const entry of entries) {
    const isOpen = entry.kind === 'folder' && entry.problem === undefined && !isSkippedName(posix.basename(entry.path))
    if (isOpen) await listFolder(walk, entry.path)
    else listed.push(entry)
  }
}

async function toFolderEntry(walk: Walk, folder: string, entry: Dirent, raw: Buffer[]): Promise<FolderEntry> {
  const path = posix.join(folder, entry.name)
  const kind = readKind(entry)
  if (isDecodedBadly(entry.name)) {
    // Several names can be decoded to the same text, if they differ only in invalid bytes: take each raw name once.
    const at = raw.findIndex((bytes) => bytes.toString() === entry.name)
    const name = at === -1 ? Buffer.from(entry.name) : raw.splice(at, 1)[0]!
    return { path: posix.join(folder, escapeBytes(name)), size: 0, kind, problem: notUtf8 }
  }
  const isTooDeep = kind === 'folder' && !isSkippedName(entry.name) && path.split('/').length > depthMax
  if (isTooDeep) return { path, size: 0, kind, problem: tooDeep }
  const details = await readDetails(walk, path, kind).catch(() => ({ size: 0, problem: vanished }))
  return { path, kind, ...details }
}

/** Whether a part of the name could not be decoded, because the name on disk is not UTF-8. */
function isDecodedBadly(name: string): boolean {
  return name.includes('\uFFFD')
}

function readKind(entry: Dirent): NonNullable<SourceEntry['kind']> {
  if (entry.isFile()) return 'file'
  return entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'other'
}

async function readDetails(
  walk: Walk,
  path: string,
  kind: SourceEntry['kind'],
): Promise<Omit<FolderEntry, 'path' | 'kind'>> {
  const place = join(walk.root, path)
  if (kind === 'link') {
    const target = await readlink(place)
    return { size: 0, target: isAbsolute(target) ? undefined : target.split(sep).join('/') }
  }
  if (kind !== 'file') return { size: 0 }
  const { dev, ino, mode, size } = await lstat(place)
  walk.seen.set(path, { dev, ino })
  const bytes = mayBeGitAttributes({ path, size }) ? await readPlainFile(walk, path).catch(() => undefined) : undefined
  return { size, ...readFileMode({ mode }), ...(bytes && { bytes }) }
}

/**
 * Reads a plain file that the walk saw at this path. The opened file is compared with the seen file, because the folder
 * may change at any time: no link may lead to another file. Descriptors take half the time of a `FileHandle`.
 */
async function readPlainFile({ root, seen }: Pick<Walk, 'root' | 'seen'>, path: string): Promise<Uint8Array> {
  const refuse = (cause?: unknown): never => {
    const detail = `${path} cannot be read, or changed while it was read. Check its permissions, and try again.`
    throw new RegistryError('upstream_failed', detail, { cause })
  }
  const file = await openFile(join(root, path), readFlags).catch(refuse)
  try {
    const stats = fstatSync(file)
    const first = seen.get(path)
    // On Windows, numbers of devices may differ between the two calls.
    const isSame = stats.ino === first?.ino && (stats.dev === first.dev || process.platform === 'win32')
    if (!stats.isFile() || !isSame || stats.size > limits.fileBytesMax) refuse()
    const bytes = Buffer.alloc(stats.size)
    return bytes.subarray(0, await readInto(file, bytes).catch(refuse))
  } finally {
    closeSync(file)
  }
}

const openFile = promisify(open)
const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Reads the beginning of an open file into `bytes`. Returns the number of bytes that were read. */
function readInto(file: number, bytes: Uint8Array): Promise<number> {
  return new Promise((done, fail) => {
    read(file, bytes, 0, bytes.length, 0, (error, bytesRead) => (error ? fail(error) : done(bytesRead)))
  })
}

/** Whether the git checkout with this folder, not at its root, has the `.gitattributes` of a node at its root. */
async function isBelowNodeCheckout(folder: string): Promise<boolean> {
  let root = folder
  while (!existsSync(join(root, '.git')) && root !== dirname(root)) root = dirname(root)
  if (root === folder) return false
  const walk: Walk = { root, entries: [], seen: new Map() }
  const path = '.gitattributes'
  const { bytes } = await readDetails(walk, path, 'file').catch((): Partial<FolderEntry> => ({}))
  return isGitAttributes({ path, ...(bytes && { bytes }) })
}

async function mapInBatches<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (let i = 0; i < items.length; i += readsMax) {
    results.push(...(await Promise.all(items.slice(i, i + readsMax).map(map))))
  }
  return results
}
