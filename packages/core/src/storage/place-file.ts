import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'

/** Name of a file while {@link placeFile} writes it, and names of SQLite's journals next to it. */
const partialPattern = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.partial(?:-journal|-wal|-shm)?$/

/** Whether a name is that of an incomplete file of {@link placeFile}. Names chosen by people do not match. */
export function isPartial(name: string): boolean {
  return partialPattern.test(name)
}

/**
 * Creates a file atomically, readable only by its owner: `write` fills a file with a temporary name, which is synced to
 * disk before it gets its final name. Throws `conflict` if a file with that name exists.
 */
export async function placeFile(to: string, write: (partial: string) => Promise<void>): Promise<void> {
  if (existsSync(to)) throw toTaken()
  const folder = dirname(resolve(to))
  const partial = join(folder, `.${randomUUID()}.partial`)
  try {
    await (await open(partial, 'wx', 0o600)).close()
    await write(partial)
    await sync(partial)
    await giveName(partial, to)
    await sync(folder)
  } finally {
    for (const end of ['', '-journal', '-wal', '-shm']) await rm(partial + end, { force: true })
  }
}

async function sync(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Hard-links first: unlike a rename, a link never replaces a file that was created meanwhile. Not every file system has
 * links.
 */
async function giveName(partial: string, to: string): Promise<void> {
  try {
    await link(partial, to)
  } catch (error) {
    if (existsSync(to)) throw toTaken()
    if (!['EPERM', 'EACCES', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error
    await rename(partial, to)
  }
}

function toTaken(): RegistryError {
  return new RegistryError('conflict', 'A file with this name already exists. Choose another name.')
}
