/** The worker threads that the scanner and the registry share. */
export { isMissingFile, onThreadsMissing, placeThreads, startThread, type ThreadPlace } from './threads/threads.ts'
export { WorkerPool, type WorkerPoolOptions } from './threads/worker-pool.ts'
