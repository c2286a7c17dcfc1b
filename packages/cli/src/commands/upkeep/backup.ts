import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { countInBucket, writeBackup } from '@skillstead/maintenance'
import { UsageError, command } from '../../command/command.ts'
import { storeOptions, toStoreLocation } from '../../registry/place.ts'
import { toSize } from '../../terminal/output.ts'

export const commands = {
  backup: command({
    description: 'Copy a registry to one file and check the copy. A node may serve the registry meanwhile.',
    words: ['FILE'],
    options: storeOptions,
    async run(given) {
      const { path } = toStoreLocation(given)
      if (path === undefined) {
        throw new UsageError('`backup` works with --data only. For PostgreSQL use its own tools, such as pg_dump.')
      }
      const file = resolve(given.words[0])
      if (existsSync(file)) {
        const what = statSync(file).isDirectory() ? 'is a folder' : 'already exists'
        throw new UsageError(`${file} ${what}. Choose another file name.`)
      }
      if (!existsSync(dirname(file))) throw new UsageError(`The folder ${dirname(file)} does not exist.`)
      // Do not open the file as a registry: opening migrates a database of an older version, and a node may be serving
      // it.
      const bytes = await writeBackup(path, file, given.io.interruption())
      return { file, bytes, verified: true, inBucket: await countInBucket(file) }
    },
    show: ({ file, bytes, inBucket }) => [
      `Wrote ${file} (${toSize(bytes)}) and checked it: the copy is intact.`,
      ...(inBucket > 0
        ? [
            `It does not contain ${inBucket} large files, which are in the bucket. \`skillstead export\` writes them, too.`,
          ]
        : []),
    ],
  }),
}
