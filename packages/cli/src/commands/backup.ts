import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { writeBackup } from '@skillstead/maintenance'
import { UsageError, command } from '../command/command.ts'
import { toSize } from '../mirror/bundle-lines.ts'
import { storeOptions, toLocation } from '../registry/place.ts'

export const commands = {
  // Works also while a node serves the registry.
  backup: command({
    description: 'Copy a registry to one file and check the copy. A node may serve the registry meanwhile.',
    words: ['FILE'],
    options: storeOptions,
    async run(given) {
      const { path } = toLocation(given)
      if (path === undefined) {
        throw new UsageError('`backup` works with --data only. For PostgreSQL use its own tools, such as pg_dump.')
      }
      const file = resolve(given.words[0])
      if (existsSync(file)) {
        const what = statSync(file).isDirectory() ? 'is a folder' : 'exists already'
        throw new UsageError(`${file} ${what}. Choose a file name that does not exist yet.`)
      }
      if (!existsSync(dirname(file))) throw new UsageError(`The folder ${dirname(file)} does not exist.`)
      // Do not open it as a registry: that would migrate the database of an older version while a node may be serving it.
      const bytes = await writeBackup(path, file, given.io.interruption())
      return { file, bytes, verified: true }
    },
    show: ({ file, bytes }) => [`Wrote ${file} (${toSize(bytes)}) and checked it: the copy is intact.`],
  }),
}
