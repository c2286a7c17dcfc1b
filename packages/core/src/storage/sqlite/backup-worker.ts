import { parentPort, workerData } from 'node:worker_threads'
import { copyDatabase } from './copy-database.ts'

void postCopyResult()

/** The thread of `copySqliteFile`. Posts a sentence about the fault of a damaged copy, or null. */
async function postCopyResult(): Promise<void> {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(await copyDatabase(workerData))
}
