import SqliteDatabase from 'better-sqlite3'

/** Which file to copy, and the empty file that is overwritten. */
export interface CopyOrder {
  readonly from: string
  readonly to: string
}

/** Pages to copy between two checks for cancellation. */
const stepPages = 4096

/** Copies a registry's file and verifies the copy. Returns a sentence about the fault of a damaged copy, or null. */
export async function copyDatabase({ from, to }: CopyOrder, signal?: AbortSignal): Promise<string | null> {
  await copyPages(from, to, signal)
  return checkCopy(to)
}

/** Copies within one read transaction: writes during the copy are not included and do not restart it. */
async function copyPages(from: string, to: string, signal?: AbortSignal): Promise<void> {
  const source = new SqliteDatabase(from, { readonly: true, fileMustExist: true })
  try {
    source.exec('begin')
    const isRegistry = source.prepare("select 1 from sqlite_schema where name = 'migrations'").get() !== undefined
    if (!isRegistry) throw new Error(`${from} is not a registry: it is empty, or the database of another program.`)
    const progress = () => {
      signal?.throwIfAborted()
      return stepPages
    }
    await source.backup(to, { progress })
  } finally {
    source.close()
  }
}

/** Merges the journal into the copy, so that it is one file that can be moved, and verifies it. */
function checkCopy(path: string): string | null {
  const copied = new SqliteDatabase(path)
  try {
    copied.pragma('journal_mode = DELETE')
    const found = copied.pragma('integrity_check(1)', { simple: true })
    return found === 'ok' ? null : String(found)
  } finally {
    copied.close()
  }
}
