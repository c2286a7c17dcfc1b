import { lstat, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@skillstead/core'

/** A folder that is in use for a while. */
export interface ScratchFolder {
  readonly path: string
  /** Says that it still is. */
  touch(): Promise<void>
  remove(): Promise<void>
}

const prefix = 'skillstead-git-'
/** As `mkdtemp` names them. */
const named = /^skillstead-git-[A-Za-z0-9]{6}$/
/** Longer than anything that is done between two touches. */
const unusedMsMax = 60 * 60_000
/** What a program that was ended writes while it ends comes in between. */
const removing = { recursive: true, force: true, maxRetries: 5 } as const

/** Makes one among the temporary files, and removes those of runs that were killed. */
export async function openScratchFolder(): Promise<ScratchFolder> {
  await removeLeftovers(tmpdir())
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

/** Only those of the same user: the place is everybody's. Another run may be removing them too. */
async function removeLeftovers(place: string): Promise<void> {
  const names = await readdir(place).catch(() => [])
  for (const name of names.filter((one) => named.test(one))) {
    const path = join(place, name)
    const found = await lstat(path).catch(() => undefined)
    if (!found?.isDirectory() || (process.getuid && found.uid !== process.getuid())) continue
    if (systemClock.now() - found.mtimeMs < unusedMsMax) continue
    await rm(path, removing).catch(() => undefined)
  }
}
