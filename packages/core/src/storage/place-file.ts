import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { RegistryError } from '@skillstead/protocol'

/** What {@link placeFile} calls a file until it is whole, and what SQLite keeps beside that. */
const partialPattern = /^\.[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\.partial(?:-journal|-wal|-shm)?$/

/** Whether a file is one that was begun here and is not whole, by its name; nothing that people call so. */
export function isPartial(name: string): boolean {
  return partialPattern.test(name)
}

/**
 * Makes a file that is there whole or not at all, and that only its owner may read: `write` fills one of another name,
 * which then is on the disk before it gets its own. Throws `conflict` where there is a file of that name.
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

/** Unlike a change of name, a link never takes the place of a file that came meanwhile; not every file system has them. */
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
  return new RegistryError('conflict', 'There is a file of this name already. Choose another one.')
}
