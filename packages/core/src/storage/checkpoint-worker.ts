import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

/** Orders to the thread: checkpoint once, or end. */
export type CheckpointOrder = 'move' | 'end'

/** The thread of `createCheckpoints`, with its own connection; posts a message when a checkpoint is done. */
const database = new SqliteDatabase(workerData as string, { fileMustExist: true })
parentPort!.on('message', (order: CheckpointOrder) => {
  if (order === 'move') {
    move()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage('moved')
  } else {
    database.close()
    parentPort!.close()
  }
})

/**
 * Readers and writers are not blocked. What cannot be moved now, as on a full disk, is moved by the next checkpoint.
 */
function move(): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch (error) {
    if (!(error instanceof SqliteDatabase.SqliteError)) throw error
  }
}
