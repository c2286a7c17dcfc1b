const moreRoom = 'The disk is full. Free some space and run this again; nothing was partly written.'
const notAllowed = 'The registry cannot be written. Run this as the user who owns it, on a disk that is not read-only.'
const another = 'Another process has locked the registry. Try again shortly.'

/** Messages for disk and database errors, by the error code of the system. */
const sentences: Readonly<Record<string, string>> = {
  SQLITE_FULL: moreRoom,
  ENOSPC: moreRoom,
  EDQUOT: moreRoom,
  SQLITE_READONLY: notAllowed,
  EROFS: notAllowed,
  SQLITE_CANTOPEN: 'The registry cannot be opened. Pass a folder with --data DIR that this user can read and write.',
  SQLITE_NOTADB: 'skillstead.db in this folder is not a registry, or is damaged. Restore it from a backup.',
  SQLITE_CORRUPT: 'skillstead.db in this folder is damaged. Restore it from a backup.',
  SQLITE_IOERR: 'The disk is full or failing. Check it and run this again; nothing was partly written.',
  SQLITE_BUSY: another,
  SQLITE_LOCKED: another,
}

/**
 * A message with advice for a disk or database error, also if it is the cause of another error; undefined for other
 * errors.
 */
export function findStorageSentence(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const [code = ''] = /^(?:SQLITE_[A-Z]+|E[A-Z]+)/.exec(String((one as NodeJS.ErrnoException).code)) ?? []
    if (Object.hasOwn(sentences, code)) return sentences[code]
  }
  return undefined
}
