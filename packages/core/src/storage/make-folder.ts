import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** What keeps a folder from being made, by the code that the system gives it. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  EEXIST: 'there is a file of this name',
  ENOENT: 'the file system takes no folders',
}

/**
 * Makes a folder that only its owner may enter, and those above it, where there are none. One at a time: in file systems
 * that take no folders, such as /proc, the recursive mkdir of Node never ends. Throws an Error with a sentence.
 */
export function makePrivateFolder(folder: string): void {
  if (isFolder(folder)) return
  try {
    makeFolders(resolve(folder))
    // Keys' hashes and private skills lie there.
    chmodSync(folder, 0o700)
  } catch (cause) {
    const { code, path = folder } = cause as NodeJS.ErrnoException
    const reason = reasons[String(code)]
    if (reason === undefined) throw cause
    throw new Error(`The folder ${path} cannot be made: ${reason}. Choose another one.`, { cause })
  }
}

function makeFolders(folder: string): void {
  if (isFolder(folder)) return
  if (dirname(folder) !== folder) makeFolders(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process was as quick.
    if (!isFolder(folder)) throw error
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
