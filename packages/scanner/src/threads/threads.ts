import { readErrorCode } from '@skillstead/protocol'
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { createWorker } from './thread-start.ts'

/**
 * Where the files of worker threads are: in a folder with copies of what `@skillstead/core/threads/*` exports, or next
 * to the code that starts the threads. `inline` starts no threads; their work then runs in the calling thread.
 */
export type ThreadPlace = URL | 'inline' | 'default'

/**
 * With these limits V8 collects garbage earlier than with its defaults: a thread that scans uses 20 MB less memory, and
 * is as fast. No known input needs nearly as much memory as the limit. The young generation of a thread would otherwise
 * grow to more than 30 MB, and collecting a smaller one more often takes no longer.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 8 }

type Listener = (message: string) => void

let place: ThreadPlace = 'default'
/** The threads whose files are missing: they are not tried again. */
const missing = new Set<string>()
/** Listeners, each of which is called once. */
const listeners = new Set<Listener>()

/** Sets the place of worker threads for the whole process, because all registries of a process share their threads. */
export function placeThreads(chosen: ThreadPlace): void {
  if (String(chosen) === String(place)) return
  place = chosen
  missing.clear()
}

/** Calls `listener` once if worker threads cannot be started. Returns a function that removes it. */
export function onThreadsMissing(listener: Listener): () => void {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

/**
 * Starts the worker thread `name`. `start` must contain `new Worker(new URL('../NAME.ts', import.meta.url))`, literally:
 * bundlers look for it. Throws an error if no thread can be started; a missing file is also an `error` event of the
 * worker that {@link isMissingFile} recognizes. The caller must then do the work in its own thread.
 */
export function startThread(
  name: `${string}-worker`,
  start: (options: WorkerOptions) => Worker,
  options: WorkerOptions = {},
): Worker {
  if (place === 'inline') throw new Error('Worker threads are turned off. Do the work in the calling thread.')
  if (missing.has(name)) throw reportMissing(name)
  let worker: Worker
  try {
    worker = createWorker(name, place === 'default' ? undefined : place, start, { resourceLimits, ...options })
  } catch (error) {
    throw reportMissing(name, error)
  }
  worker.once('error', (error) => {
    if (!isMissingFile(error)) return
    missing.add(name)
    reportMissing(name, error)
  })
  return worker
}

/** Whether a worker thread failed because its file does not exist. */
export function isMissingFile(error: unknown): boolean {
  return ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(String(readErrorCode(error)))
}

function reportMissing(name: string, cause?: unknown): Error {
  const message =
    `The worker thread ${name} cannot be started, so its work runs in the calling thread and blocks it. ` +
    'In a bundled program, copy the folder dist/threads of @skillstead/core and pass its URL as `threads`.'
  for (const listener of listeners) {
    listeners.delete(listener)
    listener(message)
  }
  return new Error(message, { cause })
}
