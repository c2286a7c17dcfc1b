import { toShortName } from '@skillstead/protocol'
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { UsageError, flag, textOption, type Arguments, type Options } from '../command/command.ts'
import { configFile, homeFolder } from '../files/config.ts'
import type { Environment } from '../terminal/io.ts'
import { toAgentFolders } from './agents.ts'
import { isTarget } from './lock.ts'

/** Where skills are installed: in a project, or for a user account. */
export interface Place {
  readonly isGlobal: boolean
  /** The folder that the targets of the lock are relative to. */
  readonly root: string
  /** The folder that contains the lock. */
  readonly lockFolder: string
  /** The environment, whose variables set the folders of some agents. */
  readonly env: Environment
}

/** Whether a command works on the project or on the user account. */
export const globalOption: Options = {
  global: { help: 'install for your user account, not for the project in this folder' },
}

/** The folders that skills are installed into. */
export const targetOptions: Options = {
  agent: {
    value: 'NAMES',
    help: 'the agents to install for, such as claude-code,cursor (an unknown name lists all). Default: universal',
  },
  dir: { value: 'DIR', help: "the folder to install into, instead of an agent's folder" },
  ...globalOption,
}

/** Placeholder for any skill in a folder of skills. */
const anySkill = 'any/skill'

/** The install place that the options name. */
export function toInstallPlace(given: Arguments): Place {
  const { env } = given.io
  if (!flag(given, 'global')) return { isGlobal: false, root: process.cwd(), lockFolder: process.cwd(), env }
  return { isGlobal: true, root: homeFolder(env), lockFolder: dirname(configFile('skills.lock', env)), env }
}

/** The folders of skills that the options name, relative to the lock; none if the options name none. */
export function toSkillFolders(given: Arguments, place: Place): string[] {
  const [agent, dir] = [textOption(given, 'agent'), textOption(given, 'dir')]
  if (agent !== undefined && dir !== undefined) throw new UsageError('Pass --agent or --dir, not both.')
  if (dir !== undefined) return [toSkillFolderPath(place, resolve(dir))]
  const names = agent?.split(',').map((name) => name.trim())
  return names ? toAgentFolders(names, place.isGlobal, place.env).map((folder) => toSkillFolderPath(place, folder)) : []
}

/** The default folders of skills. */
export function toUsualFolders(place: Place): string[] {
  return toAgentFolders(['universal'], place.isGlobal, place.env).map((folder) => toSkillFolderPath(place, folder))
}

/** A folder of skills in the form of the lock. Throws {@link UsageError} for a folder that a lock cannot name. */
export function toSkillFolderPath(place: Place, path: string): string {
  const folder = toRelative(place, resolve(place.root, path))
  if (isTarget(toSkillTarget(folder, anySkill), toShortName(anySkill), { anywhere: place.isGlobal })) return folder
  throw new UsageError(
    `${JSON.stringify(path)} cannot be a folder of skills. skills.lock must work on every system: use no ` +
      'colons, backslashes, control characters, names that Windows reserves, or .git, which git reserves.',
  )
}

/** The path of a folder of skills. Throws like {@link toTargetPath}. */
export function toSkillParent(place: Place, folder: string): string {
  return dirname(toTargetPath(place, toSkillTarget(folder, anySkill)))
}

/** The target of a skill within a folder of skills. */
export function toSkillTarget(folder: string, fullName: string): string {
  return folder === '' ? toShortName(fullName) : `${folder}/${toShortName(fullName)}`
}

/** The path of a target. Throws if a symbolic link leads the target of a project out of the project. */
export function toTargetPath(place: Place, target: string): string {
  const path = isAbsolute(target) ? target : join(place.root, ...target.split('/'))
  if (place.isGlobal) return path
  const [real, root] = [toRealPath(dirname(path)), realpathSync(place.root)]
  if (isInsideFolder(real, root)) return path
  throw new Error(`${target} leads out of this project through a symbolic link to ${real}. Nothing was changed.`)
}

/** The canonical path of a folder, with symbolic links resolved; also for a folder that does not exist yet. */
export function toRealPath(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(toRealPath(parent), path.slice(parent.length))
}

/**
 * The lock of a project names only folders below its root, so that it is valid on other machines. The lock of a user
 * account may name any folder.
 */
function toRelative({ root, isGlobal }: Place, path: string): string {
  if (isInsideFolder(path, root)) return relative(root, path).split(sep).join('/')
  if (isGlobal) return path.split(sep).join('/')
  throw new UsageError(
    `${path} is outside of ${root}, so the skills.lock there cannot name it. ` +
      'Run this command in a folder that contains it, or use --global.',
  )
}

function isInsideFolder(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
