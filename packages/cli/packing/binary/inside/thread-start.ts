/** Replaces `packages/scanner/src/threads/thread-start.ts`. */
import { getAsset } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { openAddon } from './addon.ts'

const databaseThreads = new Set(['backup-worker', 'checkpoint-worker'])

/** Starts a thread from a text that loads the chunk of the thread. */
export function createWorker(
  name: `${string}-worker`,
  _folder: URL | undefined,
  _start: unknown,
  options: WorkerOptions,
): Worker {
  // A thread that opens the database must load the same addon; see `openAddon`.
  if (databaseThreads.has(name)) openAddon()
  const code = `${getAsset('boot.js', 'utf8')}skillstead.load('${name}.js')`
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), options)
}
