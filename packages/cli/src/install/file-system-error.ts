/** What a file system refused, as a sentence; other errors are given back as they are. */
export function toFileSystemError(error: unknown): unknown {
  const { code, path, dest } = error as NodeJS.ErrnoException & { dest?: string }
  if (typeof code !== 'string' || !/^E[A-Z]+$/.test(code)) return error
  const reason = reasons[code]
  const where = dest ?? path ?? 'A file'
  const sentence = reason ? `${where} ${reason}` : `${where} could not be written: ${(error as Error).message}.`
  return new Error(`${sentence} Nothing was changed.`, { cause: error })
}

const denied = 'may not be written by you. Make the folder writable, or choose another one with --dir.'
const full = 'could not be written: there is no room left on that disk. Make room, and try again.'

const reasons: Readonly<Record<string, string>> = {
  EACCES: denied,
  EPERM: denied,
  EROFS: 'lies on a file system that is read only. Choose another folder with --dir.',
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  ENOTDIR: 'is below a file, where a folder was expected. Move that file away, or choose another folder with --dir.',
  EEXIST: 'is there already, and is no folder. Move it away, or choose another folder with --dir.',
}
