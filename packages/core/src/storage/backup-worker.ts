import { parentPort, workerData } from 'node:worker_threads'
import SqliteDatabase from 'better-sqlite3'

/** What is asked of the thread: to copy one file to another, which is there already and empty. */
export interface BackupOrder {
  readonly from: string
  readonly to: string
}

/** How many pages are copied between two looks at whether the thread is to end. */
const stepPages = 4096

/** A thread of `writeBackup`: answers what is wrong with the copy, or null. */
const { from, to } = workerData as BackupOrder
void answer()

async function answer(): Promise<void> {
  await copy()
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort!.postMessage(check())
}

/** Within one reading transaction: what is written meanwhile neither comes into the copy nor begins it anew. */
async function copy(): Promise<void> {
  const source = new SqliteDatabase(from, { readonly: true, fileMustExist: true })
  try {
    source.exec('begin')
    const isRegistry = source.prepare("select 1 from sqlite_schema where name = 'migrations'").get() !== undefined
    if (!isRegistry) throw new Error(`${from} is no registry: it is a database of something else, or empty.`)
    await source.backup(to, { progress: () => stepPages })
  } finally {
    source.close()
  }
}

/** A copy is one file, whatever the original was: its journal goes into it before anybody moves it. */
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
