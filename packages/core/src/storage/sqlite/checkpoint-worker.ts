import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

/** Messages to the thread: run one checkpoint, or end. */
export type CheckpointOrder = 'move' | 'end'

/** The thread of `createCheckpoints`, with its own connection; posts a message when a checkpoint is done. */
const database = new SqliteDatabase(workerData, { fileMustExist: true })
parentPort!.on('message', (order: CheckpointOrder) => {
  if (order === 'move') {
    runCheckpoint()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage('moved')
  } else {
    database.close()
    parentPort!.close()
  }
})

/**
 * A passive checkpoint blocks neither readers nor writers. The next checkpoint moves pages that this one cannot move,
 * as on a full disk.
 */
function runCheckpoint(): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch (error) {
    if (!(error instanceof SqliteDatabase.SqliteError)) throw error
  }
}
