import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeScratch } from './scratch.ts'

/** The folder of this workspace. */
export const workspace = fileURLToPath(new URL('../../', import.meta.url))

/** The commit of this workspace, with `-dirty` if files differ from it. */
export function readRevision(): string {
  const args = ['describe', '--always', '--exclude=*', '--dirty']
  return execFileSync('git', args, { cwd: workspace, encoding: 'utf8' }).trim()
}

const known = new Map<string, string>()

/**
 * Writes the packages of another revision of this repository into a folder, and returns it. They use today's versions of
 * other packages, and today's benchmarks measure them.
 */
export function checkOut(revision: string): string {
  const existing = known.get(revision)
  if (existing !== undefined) return existing
  const folder = makeScratch('revision')
  const archive = execFileSync('git', ['archive', revision], { cwd: workspace, maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(join(workspace, 'node_modules'), join(folder, 'node_modules'))
  // The links are relative, so those to other packages of the workspace lead to the same revision.
  for (const name of readdirSync(join(folder, 'packages'))) linkModules(join('packages', name), folder)
  for (const name of ['bench', 'support']) {
    rmSync(join(folder, 'test', name), { recursive: true, force: true })
    cpSync(join(workspace, 'test', name), join(folder, 'test', name), { recursive: true })
  }
  linkModules('test', folder)
  known.set(revision, folder)
  return folder
}

function linkModules(name: string, folder: string): void {
  const modules = join(workspace, name, 'node_modules')
  if (existsSync(modules))
    cpSync(modules, join(folder, name, 'node_modules'), { recursive: true, verbatimSymlinks: true })
}
