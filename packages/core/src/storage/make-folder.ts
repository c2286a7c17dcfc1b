import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Reasons why a folder cannot be created, by the error code of the system. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  EEXIST: 'there is a file of this name',
  ENOENT: 'the file system does not allow folders',
}

/**
 * Creates a folder that only its owner may enter, and its parents where they do not exist. One level at a time: on file
 * systems without folders, such as /proc, Node's recursive mkdir never returns. Throws an Error with a sentence.
 */
export function makePrivateFolder(folder: string): void {
  if (isFolder(folder)) return
  try {
    makeFolders(resolve(folder))
    // The folder contains key hashes and private skills.
    chmodSync(folder, 0o700)
  } catch (cause) {
    const { code, path = folder } = cause as NodeJS.ErrnoException
    const reason = reasons[String(code)]
    if (reason === undefined) throw cause
    throw new Error(`Cannot create the folder ${path}: ${reason}. Choose another folder.`, { cause })
  }
}

function makeFolders(folder: string): void {
  if (isFolder(folder)) return
  if (dirname(folder) !== folder) makeFolders(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another process may have created it meanwhile.
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
