import { constants, type Dirent } from 'node:fs'
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RegistryError, limits } from '@skillstead/protocol'
import * as v from 'valibot'
import type { SnapshotSource } from '../types.ts'
import { isSkippedName, notUtf8, readFileMode } from '@skillstead/skill-format/archives'
import { readSkillTree, type Places, type SkillTree, type TreeFile } from './skill-folders.ts'

export interface FolderSourceOptions {
  /** A path, or a `file:` URL. */
  readonly location: string
  /** The owner of the imported skills: folders name none. */
  readonly owner: string
  readonly wants: (skill: { owner: string; name: string }) => boolean
}

const StoredCursor = v.object({ places: v.record(v.string(), v.string()) })
const entriesMax = 500_000
const depthMax = 32

/** Reads the skills of a folder: every folder below it, at any depth, that has a SKILL.md. Links are followed only to files of the same skill. */
export function createFolderSource({ location, owner, wants }: FolderSourceOptions): SnapshotSource {
  return {
    async *list(stored, known) {
      const places = readFolderPlaces(stored)
      const tree = await openSkillTree(location)
      for await (const { left, ...batch } of readSkillTree(tree, { owner, places, wants }, known)) {
        yield { ...batch, cursor: stored, estimate: { left, secondsLeft: 0 } }
      }
      yield { releases: [], cursor: { places } }
    },
    requests: 0,
  }
}

/** The folders of the skills at the last sync. */
export function readFolderPlaces(stored: unknown): Places {
  const parsed = v.safeParse(StoredCursor, stored)
  return parsed.success ? { ...parsed.output.places } : {}
}

async function openSkillTree(location: string): Promise<SkillTree<TreeFile>> {
  const given = resolve(location.startsWith('file:') ? fileURLToPath(location) : location)
  // The location itself may be a link, since the operator chose it. Links below it are read, but never opened.
  const root = await realpath(given).catch((cause: unknown) => {
    throw new RegistryError('upstream_failed', `The folder ${given} does not exist or cannot be read.`, { cause })
  })
  const files: TreeFile[] = []
  await walkFolder(root, '', 0, files)
  const read = async (wanted: readonly TreeFile[]) => {
    const bytes: Uint8Array[] = []
    for (const file of wanted) bytes.push(await readPlainFile(root, file))
    return bytes
  }
  return { files, rootName: basename(root), read }
}

async function walkFolder(root: string, path: string, depth: number, files: TreeFile[]): Promise<void> {
  const entries = await readdir(join(root, path), { withFileTypes: true }).catch((cause: unknown) => {
    throw new RegistryError('upstream_failed', `The folder ${join(root, path)} cannot be read.`, { cause })
  })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const inner = path === '' ? entry.name : `${path}/${entry.name}`
    const isRead = !isSkippedName(entry.name) && !entry.name.includes('\uFFFD')
    if (entry.isDirectory() && isRead && depth < depthMax) {
      await walkFolder(root, inner, depth + 1, files)
      continue
    }
    if (files.length >= entriesMax) {
      throw new RegistryError(
        'upstream_failed',
        `${root} contains more than ${entriesMax} files. Add a folder below it instead.`,
      )
    }
    files.push(isRead ? await readTreeEntry(root, inner, entry) : { path: inner, size: 0, ...toUnread(entry) })
  }
}

function toUnread(entry: Dirent): Omit<TreeFile, 'path' | 'size'> {
  return { kind: 'folder', ...(!isSkippedName(entry.name) && { problem: notUtf8 }) }
}

async function readTreeEntry(root: string, path: string, entry: Dirent): Promise<TreeFile> {
  const place = join(root, path)
  if (entry.isFile()) {
    const stats = await lstat(place).catch(unreadablePath(path))
    return { path, size: stats.size, ...readFileMode(stats) }
  }
  if (!entry.isSymbolicLink()) return { path, size: 0, kind: entry.isDirectory() ? 'folder' : 'other' }
  const target = await readlink(place).catch(unreadablePath(path))
  return { path, size: 0, kind: 'link', target: isAbsolute(target) ? undefined : target.split(sep).join('/') }
}

async function readPlainFile(root: string, { path }: TreeFile): Promise<Uint8Array> {
  return withPlainFile(root, path, async (file) => {
    const { size } = await file.stat()
    if (size > limits.fileBytesMax)
      throw new RegistryError('upstream_failed', `${path} grew while it was read. Sync again.`)
    const bytes = Buffer.alloc(size)
    const { bytesRead } = await file.read(bytes, 0, size, 0)
    return bytes.subarray(0, bytesRead)
  })
}

/**
 * Opens a plain file at exactly this path. Checked after opening, because the folder may change at any moment: no link
 * may lead to another file.
 */
async function withPlainFile<T>(
  root: string,
  path: string,
  work: (file: Awaited<ReturnType<typeof open>>) => Promise<T>,
): Promise<T> {
  const place = join(root, ...path.split('/'))
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    unreadablePath(path),
  )
  try {
    const isPlain = (await file.stat()).isFile() && (await realpath(place)) === place
    if (!isPlain || !place.startsWith(root + (root.endsWith(sep) ? '' : sep))) unreadablePath(path)()
    return await work(file)
  } finally {
    await file.close()
  }
}

function unreadablePath(path: string): (cause?: unknown) => never {
  return (cause) => {
    const detail = `${path} cannot be read, or changed while it was read. Sync again.`
    throw new RegistryError('upstream_failed', detail, { cause })
  }
}
