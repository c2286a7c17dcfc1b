import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

/** What is asked of the thread: to move the journal into the file once, or to end. */
export type CheckpointOrder = 'move' | 'end'

/** A thread of `createCheckpoints`, with a connection of its own; answers when it has moved what it could. */
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

/** Whoever reads or writes goes on meanwhile; what cannot be moved now, as on a full disk, is moved the next time. */
function move(): void {
  try {
    database.pragma('wal_checkpoint(PASSIVE)')
  } catch (error) {
    if (!(error instanceof SqliteDatabase.SqliteError)) throw error
  }
}
