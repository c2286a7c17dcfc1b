import { chmodSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs'
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
 * systems without folders, such as /proc, Node's recursive mkdir never returns. Throws an Error with a sentence, also for a
 * folder that another user placed among those that all users share.
 */
export function makePrivateFolder(folder: string): void {
  if (isFolder(folder)) {
    refusePlaced(resolve(folder))
    refusePlaced(realpathSync(folder))
    return
  }
  try {
    makeFolders(resolve(folder))
    refusePlaced(resolve(folder))
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

/**
 * In a folder like /tmp every user can create the folder of a registry before its operator does, and then replace the
 * database and the keys in it, or a link to a folder of their own.
 */
function refusePlaced(path: string): void {
  const parent = dirname(path)
  if (parent === path || process.getuid === undefined) return
  refusePlaced(parent)
  const { uid } = lstatSync(path)
  if (uid === process.getuid() || uid === 0 || (statSync(parent).mode & 0o002) === 0) return
  throw new Error(`${path} belongs to another user, who can replace the files in it. Choose another folder.`)
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
