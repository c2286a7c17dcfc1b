import { chmod, lstat, mkdir, mkdtemp, open, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { constants } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isExecutable, type ArchiveFile } from '@skillstead/skill-format/archives'
import type { EvalCase } from '@skillstead/skill-format/evals'
import type { Environment } from '../terminal/io.ts'

/** The skill that is evaluated. */
export interface EvaluatedSkill {
  readonly name: string
  readonly digest: string
  /** Where its scripts are run from. */
  readonly folder: string
  readonly files: readonly ArchiveFile[]
}

/** Where agents look for skills of a project. */
const skillFolders = ['.claude/skills', '.agents/skills']
/** Files of a run that are listed, and bytes of those that are read. */
const listedMax = 20_000
const readBytesMax = 8 * 1024 * 1024

/**
 * Creates the folder of a run, with the files of its case, and with the skill if `skill` is given. The cases are left out
 * of the skill: an agent would find there what is expected of it.
 */
export async function makeRunFolder(
  root: string,
  one: EvalCase,
  { files, name }: EvaluatedSkill,
  withSkill: boolean,
): Promise<string> {
  const folder = await mkdtemp(join(root, 'run-'))
  const byPath = new Map(files.map((file) => [file.path, file]))
  for (const { path, to } of one.files) await writeFileAt(folder, { ...byPath.get(path)!, path: to })
  const installed = withSkill ? files.filter(({ path }) => !path.startsWith('evals/')) : []
  for (const place of skillFolders) {
    for (const file of installed) await writeFileAt(join(folder, place, name), file)
  }
  return folder
}

/** Removes the skill from the folder of a run, so that judges cannot know whether the run had it. */
export async function removeSkill(folder: string, { name }: EvaluatedSkill): Promise<void> {
  for (const place of skillFolders) await rm(join(folder, place, name), { recursive: true, force: true })
}

async function writeFileAt(folder: string, file: ArchiveFile): Promise<void> {
  const place = join(folder, file.path)
  await mkdir(dirname(place), { recursive: true })
  await writeFile(place, file.bytes)
  if (isExecutable(file)) await chmod(place, 0o755)
}

/** The files in the folder of a run by path, without following links: at most 20,000. */
export async function listRunFiles(folder: string): Promise<string[]> {
  const found: string[] = []
  const folders = ['']
  for (let at = folders.pop(); at !== undefined && found.length < listedMax; at = folders.pop()) {
    const entries = await readdir(join(folder, at), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) found.push(path)
    }
  }
  return found.slice(0, listedMax).toSorted()
}

/** The text of a file that a run left; undefined if there is none, it is too large, or a link leads out of the folder. */
export async function readRunFile(folder: string, path: string): Promise<string | undefined> {
  const root = await realpath(folder)
  const place = await realpath(join(root, path)).catch(() => undefined)
  if (place === undefined || !place.startsWith(root + sep) || !(await lstat(place)).isFile()) return undefined
  // A pipe that took its place would block.
  const handle = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(
    () => undefined,
  )
  if (!handle) return undefined
  try {
    const stats = await handle.stat()
    return stats.isFile() && stats.size <= readBytesMax ? await handle.readFile('utf8') : undefined
  } finally {
    await handle.close()
  }
}

/** What an agent does not get: addresses and keys of registries. */
export const removedVariables = /^(?:SKILLSTEAD_.*|DATABASE_URL|PWD|OLDPWD)$/

/** The environment of an agent: that of this command without {@link removedVariables}, with the variables of the case. */
export function toAgentEnvironment(env: Environment, one: EvalCase, folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !removedVariables.test(name))
  return { ...Object.fromEntries(kept), PWD: folder, ...one.env }
}

/** What scripts of a case need. They get no keys of models. */
const scriptVariables = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TMPDIR', 'TEMP', 'LANG', 'TERM']

/** The environment of a script of a case. */
export function toScriptEnvironment(env: Environment, one: EvalCase, folder: string): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(scriptVariables.map((name) => [name, env[name]])), PWD: folder, ...one.env }
}
