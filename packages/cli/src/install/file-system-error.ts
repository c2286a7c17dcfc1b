import { toErrorText, toFields } from '@skillstead/protocol'

/**
 * Converts a file system error to a message with advice and "Nothing was changed.", so the caller must have undone its
 * changes. Other errors are returned unchanged.
 */
export function toFileSystemError(error: unknown): unknown {
  const { code, path, dest } = toFields(error)
  if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return error
  const reason = reasons[code]
  const where = dest ?? path ?? 'A file'
  const sentence = reason ? `${where} ${reason}` : `${where} could not be written: ${toErrorText(error)}.`
  return new Error(`${sentence} Nothing was changed.`, { cause: error })
}

const denied = 'cannot be written: permission denied. Make the folder writable, or choose another one with --dir.'
const full = 'could not be written: the disk is full. Free some space and try again.'

const reasons: Readonly<Record<string, string>> = {
  EACCES: denied,
  EPERM: denied,
  EROFS: 'is on a read-only file system. Choose another folder with --dir.',
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  ENOTDIR: 'is below a file instead of a folder. Move that file away, or choose another folder with --dir.',
  EEXIST: 'already exists and is not a folder. Move it away, or choose another folder with --dir.',
}
