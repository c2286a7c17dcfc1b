import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { RegistryError, readErrorCode } from '@skillstead/protocol'
import type { Database } from '@skillstead/core/internal'

/**
 * Name of a file while {@link placeFile} writes it, and names of SQLite's journals for this file. File names that users
 * choose do not match, because of the UUID.
 */
const partialPattern = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.partial(?:-journal|-wal|-shm)?$/

/**
 * Creates a file atomically, readable only by its owner: `write` fills a file with a temporary name, which is synced to
 * disk before it gets its final name. Throws `conflict` if a file with that name exists.
 */
export async function placeFile(to: string, write: (partial: string) => Promise<void>): Promise<void> {
  if (existsSync(to)) throw placeTaken()
  const folder = dirname(resolve(to))
  const partial = join(folder, `.${randomUUID()}.partial`)
  try {
    await (await open(partial, 'wx', 0o600)).close()
    await write(partial)
    await syncToDisk(partial)
    await giveName(partial, to)
    await syncToDisk(folder)
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) await rm(partial + end, { force: true })
  }
}

async function syncToDisk(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Gives the file its final name by a hard link, which unlike a rename never replaces a file that was created meanwhile.
 * Renames the file only on file systems without hard links.
 */
async function giveName(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to)
  } catch (error) {
    if (existsSync(to)) throw placeTaken()
    if (!['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes(readErrorCode(error) ?? '')) throw error
    await rename(partial, to)
  }
}

function placeTaken(): RegistryError {
  return new RegistryError('conflict', 'A file with this name already exists. Choose another name.')
}

/** Age in milliseconds after which a partial file counts as left by a killed process: no backup takes as long. */
const partialAgeMinMs = 24 * 60 * 60 * 1000

interface PartialFile {
  readonly path: string
  readonly bytes: number
}

/** Unfinished copies of the registry, next to its file and in its backup folder. */
export async function findPartialFiles({ path }: Pick<Database, 'path'>, now: number): Promise<PartialFile[]> {
  if (path === undefined) return []
  const home = dirname(resolve(path))
  const files: PartialFile[] = []
  for (const folder of [home, join(home, 'backups')]) {
    for (const name of await readdir(folder).catch(() => [])) {
      if (!partialPattern.test(name)) continue
      const found = await stat(join(folder, name)).catch(() => undefined)
      if (found?.isFile() && found.mtimeMs < now - partialAgeMinMs)
        files.push({ path: join(folder, name), bytes: found.size })
    }
  }
  return files
}

/** Removes partial files; ignores files that are already gone. */
export async function removePartialFiles(files: readonly PartialFile[]): Promise<void> {
  for (const { path } of files) await rm(path, { force: true })
}
