// This file is plain JavaScript, so that Node loads its compiler for TypeScript only if the sources run.
import { createHash } from 'node:crypto'
import { existsSync, globSync, lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const packages = join(import.meta.dirname, '../..')
/** A folder for each build of the command, by what it was built from. */
export const builds = join(packages, 'cli/.built')

/** The module to run: the bundle of this clone if it was built from these very files, otherwise the sources. */
export function findProgram() {
  const sources = join(packages, 'cli/src/main.ts')
  const build = toBuild()
  const built = join(build, 'main.js')
  return existsSync(built) && keepWhileRunning(build) ? built : sources
}

/**
 * The folder of the build from the present files. Its name is a digest over the path, size and inode change time of
 * each file: a copy that preserves modification times cannot preserve the inode change time. A moved clone has other
 * builds, because builds contain the path of the clone.
 */
export function toBuild() {
  const cwd = dirname(packages)
  const folders = globSync('packages/*/src', { cwd }).flatMap((folder) => [folder, ...listBelow(cwd, folder)])
  const others = globSync(['pnpm-lock.yaml', 'packages/*/package.json', 'packages/cli/{clone,packing}/**'], { cwd })
  const hash = createHash('sha256').update(packages)
  for (const path of [...folders, ...others].toSorted()) {
    // A file may have been deleted since it was listed: then the change time of its folder differs.
    const { ctimeMs, size } = lstatSync(join(cwd, path), { throwIfNoEntry: false }) ?? {}
    hash.update(`\0${path}\0${size}\0${ctimeMs}`)
  }
  return join(builds, hash.digest('hex').slice(0, 16))
}

const listBelow = (cwd, folder) =>
  readdirSync(join(cwd, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))

/**
 * Marks a build as in use, because the process loads parts of the build later. Returns false if this user cannot mark
 * the build: another user could then remove it.
 */
function keepWhileRunning(build) {
  const mark = join(toUsers(build), `${process.pid}`)
  try {
    writeFileSync(mark, '')
  } catch (error) {
    return error.code === 'EROFS'
  }
  process.once('exit', () => rmSync(mark, { force: true }))
  return true
}

/** The folder with one file per process that uses a build, named by process id. */
export const toUsers = (build) => join(build, 'users')
