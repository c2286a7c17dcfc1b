import { moveToBucket, moveToDatabase, partsOf } from '@skillstead/core/internal'
import { command, flag } from '../../command/command.ts'
import { storeOptions, withRegistry } from '../../registry/place.ts'

export const commands = {
  'blobs move': command({
    description:
      'Move the large files of a registry into the bucket of --blobs, or back. A node may serve the registry meanwhile, with the same --blobs. If it is interrupted, the next one continues.',
    options: {
      'to-database': { help: 'move all files from the bucket back into the database; the objects stay in the bucket' },
      ...storeOptions,
    },
    run(given, output) {
      const back = flag(given, 'to-database')
      const signal = given.io.interruption()
      return withRegistry(given, async (registry) => {
        let count = 0
        for await (const moved of (back ? moveToDatabase : moveToBucket)(partsOf(registry))) {
          count += moved
          output.say(`${count} files`)
          signal.throwIfAborted()
        }
        return { count, to: back ? 'database' : 'bucket' }
      })
    },
    show: ({ count, to }) => [
      count === 0 ? `There was no file to move to the ${to}.` : `Moved ${count} files to the ${to}.`,
    ],
  }),
}
