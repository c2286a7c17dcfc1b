import { createHash } from 'node:crypto'
import { existsSync, globSync, lstatSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const packages = join(import.meta.dirname, '../..')
/** A folder for each build of the command, by what it was built from. */
export const builds = join(packages, 'cli/.built')

/** The module to run: the bundle of this clone if it was built from these very files, or the sources. */
export function findProgram(): string {
  const sources = join(packages, 'cli/src/main.ts')
  if (!existsSync(builds)) return sources
  const build = toBuild()
  const built = join(build, 'main.js')
  return existsSync(built) && keepWhileRunning(build) ? built : sources
}

/**
 * The folder of the build from the present files. Its name depends on when the last of them changed: the time of an
 * inode, which also a copy with the old times of its files raises. A moved clone has other builds, since they contain
 * its path.
 */
export function toBuild(): string {
  const cwd = dirname(packages)
  const folders = globSync('packages/*/src', { cwd }).flatMap((folder) => [folder, ...listBelow(cwd, folder)])
  const others = globSync(['pnpm-lock.yaml', 'packages/*/package.json', 'packages/cli/{clone,packing}/**'], { cwd })
  let newest = 0
  // A file that is gone by now has changed its folder.
  for (const path of [...folders, ...others])
    newest = Math.max(newest, lstatSync(join(cwd, path), { throwIfNoEntry: false })?.ctimeMs ?? 0)
  return join(builds, createHash('sha256').update(`${packages}\0${newest}`).digest('hex').slice(0, 16))
}

const listBelow = (cwd: string, folder: string) =>
  readdirSync(join(cwd, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path))

/**
 * Marks a build as in use: the process loads parts of it later. Returns false if it may be removed meanwhile, since this
 * user cannot mark it but another one can remove it.
 */
function keepWhileRunning(build: string): boolean {
  const mark = join(toUsers(build), `${process.pid}`)
  try {
    writeFileSync(mark, '')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
  process.once('exit', () => rmSync(mark, { force: true }))
  return true
}

/** The folder with a file for each process that uses a build, by its number. */
export const toUsers = (build: string) => join(build, 'users')
