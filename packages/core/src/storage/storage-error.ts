import { type ErrorCode, RegistryError, toErrorText } from '@skillstead/protocol'

interface Trouble {
  /** Error codes of both databases; PostgreSQL's have five characters, whose first two are the class. */
  readonly codes: RegExp
  readonly detail: string
  readonly retryAfterSeconds: number
}

/** Failures that are not the caller's fault: temporary, or for the operator to fix. */
const troubles: readonly Trouble[] = [
  {
    codes: /^(SQLITE_FULL|SQLITE_IOERR_SHMSIZE|ENOSPC|EDQUOT|53100)/,
    detail:
      'The disk of this registry is full. Nothing can be stored until its operator frees space. Reading still works.',
    retryAfterSeconds: 30,
  },
  {
    codes: /^(SQLITE_READONLY|SQLITE_PERM|EROFS|EACCES|25006)/,
    detail: 'This registry cannot be written at the moment. Its operator must fix that. Reading still works.',
    retryAfterSeconds: 30,
  },
  {
    codes: /^42501/,
    detail: "The database refuses this registry's own user. Its operator must grant that user the rights.",
    retryAfterSeconds: 30,
  },
  {
    codes: /^(SQLITE_(CORRUPT|NOTADB)|XX00[12])/,
    detail: 'The storage of this registry is damaged. Its operator must repair it.',
    retryAfterSeconds: 60,
  },
  {
    // Includes all interventions of an operator (57), such as a cancelled statement, failures of the machine (58), and
    // statements that were sent right after one that failed in this way (25P02).
    codes:
      /^(SQLITE_(BUSY|LOCKED|IOERR|CANTOPEN|NOMEM)|08...|25P0[234]|26000|40...|42P05|0A000|53...|55P03|57...|58...|ECONN|EHOST|ENET|EPIPE|ETIMEDOUT)/,
    detail: 'The storage is unavailable at the moment. Try again shortly.',
    retryAfterSeconds: 2,
  },
]
const lostConnection =
  /timeout exceeded when trying to connect|Connection terminated|connection error and is not queryable/

/** Whether an SQLite file is locked, or a prepared statement has an unknown name, one in use, or a new result type. */
export function isRepeatable(error: unknown): boolean {
  return /^(SQLITE_(BUSY|LOCKED)|26000|42P05|0A000)/.test(toErrorCode(error))
}

/**
 * Maps errors of a busy, full, damaged or unavailable database to a 503, so that it is never mistaken for an empty one;
 * returns other errors unchanged. Callers get a general message: names of files and tables are in the cause, for the
 * operator.
 */
export function toRegistryError(error: unknown): unknown {
  if (error instanceof RegistryError) return error
  const trouble = findTrouble(error)
  if (!trouble) return error
  const { detail, retryAfterSeconds } = trouble
  return new RegistryError('overloaded', detail, { retryAfterSeconds, cause: error })
}

/** Errors of an SQLite file that cannot be opened, by SQLite's code. */
const openings: readonly { readonly codes: RegExp; readonly code: ErrorCode; readonly detail: string }[] = [
  { codes: /^SQLITE_NOTADB/, code: 'not_a_registry', detail: 'is not a registry' },
  { codes: /^SQLITE_CORRUPT/, code: 'damaged', detail: 'is damaged. Restore a backup' },
  {
    codes: /^SQLITE_(BUSY|LOCKED)/,
    code: 'locked',
    detail: 'is locked by another process. Try again when it has ended',
  },
]

/** Maps an error of opening an SQLite file to a {@link RegistryError}; returns other errors unchanged. */
export function toOpeningError(error: unknown, path: string | undefined): unknown {
  const found = openings.find(({ codes }) => codes.test(toErrorCode(error)))
  if (!found || path === undefined) return error
  const detail = `${path} ${found.detail} (${toErrorText(error)}).`
  return new RegistryError(found.code, detail, { cause: error })
}

function findTrouble(error: unknown): Trouble | undefined {
  const code = toErrorCode(error)
  const isLost = error instanceof Error && lostConnection.test(error.message)
  return isLost ? troubles.at(-1) : troubles.find(({ codes }) => codes.test(code))
}

function toErrorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
