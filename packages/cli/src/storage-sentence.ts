const moreRoom = 'The disk is full. Make room, and run this again; nothing is half done.'
const notAllowed =
  'The registry cannot be written: run this as the user that it belongs to, and on a disk that is not read-only.'
const another = 'Another process holds the registry. Try again shortly.'

/** What goes wrong with a disk or a database, by the code that the system gives it. */
const sentences: Readonly<Record<string, string>> = {
  SQLITE_FULL: moreRoom,
  ENOSPC: moreRoom,
  EDQUOT: moreRoom,
  SQLITE_READONLY: notAllowed,
  EROFS: notAllowed,
  SQLITE_CANTOPEN: 'The registry cannot be opened: --data DIR is a folder that this user may read and write.',
  SQLITE_NOTADB: 'skillstead.db in this folder is no registry, or is damaged: put it back from a copy.',
  SQLITE_CORRUPT: 'skillstead.db in this folder is damaged: put it back from a copy.',
  SQLITE_IOERR: 'The disk is full, or failed: make room or look into it, and run this again; nothing is half done.',
  SQLITE_BUSY: another,
  SQLITE_LOCKED: another,
}

/** What to do about an error of the disk or the database, also where it lies beneath another; undefined for others. */
export function findStorageSentence(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const [code = ''] = /^(?:SQLITE_[A-Z]+|E[A-Z]+)/.exec(String((one as NodeJS.ErrnoException).code)) ?? []
    if (Object.hasOwn(sentences, code)) return sentences[code]
  }
  return undefined
}
