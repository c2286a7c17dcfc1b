import { attempt } from '@skillstead/protocol'
import { constants, lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
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

/**
 * Where agents look for skills of a project: the folder that most share, and a link to it, as other installers make it.
 */
const [sharedFolder, linkedFolder] = ['.agents/skills', '.claude/skills']
/** The maximum number of files of a run that are listed, and of bytes of a file that are read. */
export const listedMax = 20_000
const readBytesMax = 8 * 1024 * 1024

/**
 * Creates the folder of a run in `root`, with the files of its case, and with the skill if `withSkill`. The cases are
 * left out of the skill: an agent would find there what is expected of it. The writes are synchronous, because a turn
 * of the thread pool for each of these small files takes longer than writing the file.
 */
export function makeRunFolder(root: string, one: EvalCase, skill: EvaluatedSkill, withSkill: boolean): string {
  const folder = join(root, 'work')
  mkdirSync(folder)
  const wanted = new Map(one.files.map(({ path, to }) => [path, to]))
  for (const file of skill.files) {
    const to = wanted.get(file.path)
    if (to !== undefined) writeFileAt(folder, { ...file, path: to })
    if (withSkill && !file.path.startsWith('evals/')) writeFileAt(join(folder, sharedFolder, skill.name), file)
  }
  if (withSkill) {
    mkdirSync(join(folder, linkedFolder), { recursive: true })
    const target = join(process.platform === 'win32' ? folder : '../..', sharedFolder, skill.name)
    symlinkSync(target, join(folder, linkedFolder, skill.name), 'junction')
  }
  return folder
}

/**
 * Removes the skill from the folder of a run, so that judges cannot know whether the run had it. A link that the agent
 * put in place of a folder on the way is removed, and never followed: it may lead to skills of the user.
 */
export function removeSkill(folder: string, { name }: EvaluatedSkill): void {
  for (const place of [linkedFolder, sharedFolder]) {
    const ways = [dirname(place), place].map((way) => join(folder, way))
    const link = ways.find((way) => lstatSync(way, { throwIfNoEntry: false })?.isDirectory() === false)
    rmSync(link ?? join(folder, place, name), { recursive: true, force: true })
  }
}

function writeFileAt(folder: string, file: ArchiveFile): void {
  const place = join(folder, file.path)
  mkdirSync(dirname(place), { recursive: true })
  writeFileSync(place, file.bytes, { mode: isExecutable(file) ? 0o755 : 0o644 })
}

/** The files in the folder of a run by path, without following links: at most 20,000. */
export function listRunFiles(folder: string): string[] {
  const found: string[] = []
  const folders = ['']
  for (let at = folders.pop(); at !== undefined && found.length < listedMax; at = folders.pop()) {
    // An agent may have made a folder unreadable.
    for (const entry of attempt(() => readdirSync(join(folder, at), { withFileTypes: true })) ?? []) {
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
  // A pipe that took the place of the file would block.
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

/**
 * Variables that an agent does not get: addresses and keys of registries, and tokens of CI jobs that are exchanged for
 * keys.
 */
export const removedVariables =
  /^(?:SKILLSTEAD_.*|DATABASE_URL|ACTIONS_.*|.*_ID_TOKEN.*|GITHUB_TOKEN|CI_JOB_(?:TOKEN|JWT.*)|PWD|OLDPWD)$/i

/** The environment of an agent: that of this command without {@link removedVariables}, with the variables of the case. */
export function toAgentEnvironment(env: Environment, one: Pick<EvalCase, 'env'>, folder: string): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => !removedVariables.test(name))
  return { ...Object.fromEntries(kept), PWD: folder, ...one.env }
}

/** Variables that scripts of a case need. Scripts get no keys of models. */
const scriptVariables = ['PATH', 'HOME', 'USERPROFILE', 'SYSTEMROOT', 'TMPDIR', 'TEMP', 'LANG', 'TERM']

/** The environment of a script of a case. */
export function toScriptEnvironment(env: Environment, one: EvalCase, folder: string): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(scriptVariables.map((name) => [name, env[name]])), PWD: folder, ...one.env }
}
