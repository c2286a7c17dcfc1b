/** In place of `packages/core/src/thread-file.ts`. */
import { getAsset } from 'node:sea'
import { openAddon } from './addon.ts'

/** A thread as a text that loads its chunk. */
export function toThreadFile(thread: `${string}-worker`): URL {
  // A thread that opens the database must have the same addon, see there.
  if (thread.startsWith('storage/')) openAddon()
  const chunk = `${thread.slice(thread.lastIndexOf('/') + 1)}.js`
  return new URL(
    `data:text/javascript,${encodeURIComponent(`${getAsset('boot.js', 'utf8')}skillstead.load('${chunk}')`)}`,
  )
}
