/** The pool of worker threads that the scanner and the registry share. */
export { toThreadFile } from './thread-file.ts'
export { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
