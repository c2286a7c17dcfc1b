import { toFields } from '@skillstead/protocol'
import { chmodSync, lstatSync, mkdirSync, readlinkSync, statSync } from 'node:fs'
import { dirname, join, resolve, sep } from 'node:path'

/** Reasons why a folder cannot be created, by the error code of the system. */
const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
  EROFS: 'the disk is read-only',
  EEXIST: 'there is a file of this name',
  ENOENT: 'the file system does not allow folders',
}

/**
 * Creates a folder that only its owner may enter, and its parents where they do not exist. Creates each level by
 * itself, because on file systems without folders, such as /proc, Node's recursive mkdir never returns. Throws an Error
 * with a sentence, also for a folder that another user placed in a folder that all users share.
 */
export function makePrivateFolder(folder: string): void {
  try {
    refusePlaced(folder)
    if (isFolder(folder)) return
    makeFolders(resolve(folder))
    refusePlaced(folder)
    // The folder contains key hashes and private skills.
    chmodSync(folder, 0o700)
  } catch (cause) {
    const { code, path = folder } = toFields(cause)
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
    // Another process may have created the folder meanwhile.
    if (!isFolder(folder)) throw error
  }
}

/**
 * Throws if another user placed a part of the path. In a folder like /tmp, every user can create the folder of a
 * registry before its operator does, and then replace the database and the keys in it, or a link to a folder of their
 * own. Checks each step to the folder, as far as it exists.
 */
function refusePlaced(folder: string): void {
  if (process.getuid === undefined) return
  let at = resolve('/')
  let links = 0
  const steps = toSteps(resolve(folder))
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const path = join(at, step)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (!found?.isDirectory() && !found?.isSymbolicLink()) return
    const isOthers = found.uid !== process.getuid() && found.uid !== 0
    if (isOthers && (statSync(at).mode & 0o002) !== 0)
      throw new Error(`${path} belongs to another user, who can replace the files in it. Choose another folder.`)
    if (!found.isSymbolicLink()) at = path
    else if (++links > linksMax) return
    else {
      steps.push(...toSteps(resolve(at, readlinkSync(path))))
      at = resolve('/')
    }
  }
}

/** Maximum number of symbolic links in a path: Linux opens no path with more. */
const linksMax = 40

/** The names of a path, the last one first. */
function toSteps(path: string): string[] {
  return path.split(sep).filter(Boolean).toReversed()
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
