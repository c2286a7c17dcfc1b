import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Creates a worker by its name in `folder`, or with `start` if that is undefined. */
export function createWorker(
  name: `${string}-worker`,
  folder: URL | undefined,
  start: (options: WorkerOptions) => Worker,
  options: WorkerOptions,
): Worker {
  return folder ? new Worker(new URL(`${name}.js`, folder), options) : start(options)
}
