/** The worker threads that the scanner and the registry share. */
export { isMissingFile, onThreadsMissing, placeThreads, startThread, type ThreadPlace } from './threads.ts'
export { WorkerPool, type WorkerPoolOptions } from './worker-pool.ts'
