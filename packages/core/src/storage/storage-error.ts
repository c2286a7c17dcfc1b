import { RegistryError } from '@skillstead/protocol'

/** Codes of both databases for: try again later. SQLite's locks and full disks, PostgreSQL's classes 08, 53 and 57. */
const unavailable = /^(SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|NOMEM)|08...|53...|57P..|ECONN|EPIPE|ETIMEDOUT)/

/** Whether another process holds the lock of an SQLite file. */
export function isBusy(error: unknown): boolean {
  return /^SQLITE_(BUSY|LOCKED)/.test(getCode(error))
}

/** A database that is busy, full or gone answers 503 and is never mistaken for an empty one; other errors pass. */
export function toRegistryError(error: unknown): unknown {
  if (error instanceof RegistryError || !isUnavailable(error)) return error
  return new RegistryError('overloaded', 'The storage cannot take this at the moment. Try again shortly.', {
    retryAfterSeconds: 2,
    cause: error,
  })
}

function isUnavailable(error: unknown): boolean {
  if (unavailable.test(getCode(error))) return true
  return error instanceof Error && /timeout exceeded when trying to connect|Connection terminated/.test(error.message)
}

function getCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
