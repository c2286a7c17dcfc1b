import { readdir, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Database } from '../storage/database.ts'
import { isPartial } from '../storage/place-file.ts'

/** A partial file older than this was left by a killed process: no backup takes as long. */
const keptMs = 24 * 60 * 60 * 1000

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
      if (!isPartial(name)) continue
      const found = await stat(join(folder, name)).catch(() => undefined)
      if (found?.isFile() && found.mtimeMs < now - keptMs) files.push({ path: join(folder, name), bytes: found.size })
    }
  }
  return files
}

/** Removes the files; ignores files that are already gone. */
export async function removePartialFiles(files: readonly PartialFile[]): Promise<void> {
  for (const { path } of files) await rm(path, { force: true })
}
