import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

/** The thread's task: copy a file over another file, which exists and is empty. */
export interface BackupOrder {
  readonly from: string
  readonly to: string
}

/** Pages to copy between two checks for cancellation. */
const stepPages = 4096

/** The thread of `copySqliteFile`. Posts a sentence about the fault of a damaged copy, or null. */
const { from, to } = workerData as BackupOrder
void answer()

async function answer(): Promise<void> {
  await copy()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(check())
}

/** Copies within one read transaction: writes during the copy are not included and do not restart it. */
async function copy(): Promise<void> {
  const source = new SqliteDatabase(from, { readonly: true, fileMustExist: true })
  try {
    source.exec('begin')
    const isRegistry = source.prepare("select 1 from sqlite_schema where name = 'migrations'").get() !== undefined
    if (!isRegistry) throw new Error(`${from} is not a registry: it is empty, or the database of another program.`)
    await source.backup(to, { progress: () => stepPages })
  } finally {
    source.close()
  }
}

/** Merges the journal into the copy, so that it is one file that can be moved, and verifies it. */
function check(): string | null {
  const copied = new SqliteDatabase(to)
  try {
    copied.pragma('journal_mode = DELETE')
    const found = copied.pragma('integrity_check(1)', { simple: true })
    return found === 'ok' ? null : String(found)
  } finally {
    copied.close()
  }
}
