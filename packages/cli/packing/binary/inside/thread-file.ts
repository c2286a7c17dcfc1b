/** Replaces `packages/scanner/src/thread-file.ts`. */
import { getAsset } from 'node:sea'
import { openAddon } from './addon.ts'

const databaseThreads = new Set(['backup-worker', 'checkpoint-worker'])

/** A thread as a text that loads its chunk. */
export function toThreadFile(_importMetaUrl: string, thread: `${string}-worker`): URL {
  // A thread that opens the database must load the same addon; see `openAddon`.
  if (databaseThreads.has(thread)) openAddon()
  const chunk = `${thread}.js`
  return new URL(
    `data:text/javascript,${encodeURIComponent(`${getAsset('boot.js', 'utf8')}skillstead.load('${chunk}')`)}`,
  )
}
