import { lstat, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@skillstead/core'

/** A temporary folder of one run. */
export interface ScratchFolder {
  readonly path: string
  /** Marks the folder as still in use. */
  touch(): Promise<void>
  remove(): Promise<void>
}

const prefix = 'skillstead-git-'
/** The names of the folders that `mkdtemp` creates with this prefix. */
const named = /^skillstead-git-[A-Za-z0-9]{6}$/
/** Age after which a folder counts as abandoned, in milliseconds: longer than any work between two calls of `touch`. */
const unusedMsMax = 60 * 60_000
/** Options for deleting a folder, with retries because a killed program may still write files for a moment. */
const removing = { recursive: true, force: true, maxRetries: 5 } as const

/** Creates a temporary folder, and deletes the folders that killed runs left. */
export async function openScratchFolder(): Promise<ScratchFolder> {
  await removeOldScratch(tmpdir())
  const path = await mkdtemp(join(tmpdir(), prefix))
  return {
    path,
    async touch() {
      const now = systemClock.now() / 1000
      await utimes(path, now, now)
    },
    remove: () => rm(path, removing),
  }
}

/**
 * Deletes abandoned folders, but only those of the same user, because all users share the parent folder. Ignores
 * folders that another run deletes at the same time.
 */
async function removeOldScratch(place: string): Promise<void> {
  const names = await readdir(place).catch(() => [])
  for (const name of names.filter((one) => named.test(one))) {
    const path = join(place, name)
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isDirectory() || (process.getuid && found.uid !== process.getuid())) continue
    if (systemClock.now() - found.mtimeMs < unusedMsMax) continue
    await rm(path, removing).catch(() => undefined)
  }
}
