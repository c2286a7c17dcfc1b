import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { writeBackup } from '@skillstead/core'
import { UsageError, type Command } from '../command.ts'
import { toSize } from '../mirror/bundle-lines.ts'
import { storeOptions, toLocation } from '../place.ts'

/** A copy of a registry. */
interface WrittenBackup {
  readonly file: string
  readonly bytes: number
  readonly verified: true
}

/** `skillstead backup FILE`: also while a node serves the registry. */
export const backup: Command<WrittenBackup> = {
  summary: 'Copies a registry to one file and checks the copy; a node may go on serving it meanwhile.',
  words: ['FILE'],
  options: storeOptions,
  async run(given) {
    const { path } = toLocation(given)
    if (path === undefined) {
      throw new UsageError(
        'A PostgreSQL database is backed up by its own tools, such as pg_dump; this is for --data DIR.',
      )
    }
    const file = resolve(given.words[0]!)
    if (existsSync(file)) {
      const what = statSync(file).isDirectory() ? 'is a folder' : 'is there already'
      throw new UsageError(`${file} ${what}: name a file that is not there.`)
    }
    if (!existsSync(dirname(file))) throw new UsageError(`There is no folder ${dirname(file)}.`)
    // Not opened as a registry: that would bring one of an older program up to date, under a node that may be serving it.
    const bytes = await writeBackup(path, file, given.io.interruption())
    return { file, bytes, verified: true }
  },
  show: ({ file, bytes }) => [`Wrote ${file}, ${toSize(bytes)}, and read it through: it is sound.`],
}
