import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { UsageError, flag, text, type Arguments, type Option } from '../command.ts'
import { configFile, homeFolder } from '../config.ts'
import type { Environment } from '../io.ts'
import { toAgentFolders } from './agents.ts'
import { isTarget, toShortName } from './lock.ts'

/** Where skills are installed: in a project, or for everything that a user does. */
export interface Place {
  readonly isGlobal: boolean
  /** The folder that the lock's targets start from. */
  readonly root: string
  /** The folder of the lock. */
  readonly lockFolder: string
  /** Names the folders of some agents. */
  readonly env: Environment
}

/** Says whether a command means the project or its user. */
export const globalOption: Record<string, Option> = {
  global: { help: 'for all that you do, and not for the project in this folder' },
}

/** Says which folders the skills go to. */
export const targetOptions: Record<string, Option> = {
  agent: {
    value: 'NAMES',
    help: 'the agents to install for, as in claude-code,cursor (a name that is none lists all); universal unless it is said',
  },
  dir: { value: 'DIR', help: 'the folder of skills to install into, in the place of that of an agent' },
  ...globalOption,
}

/** Stands for whatever skill lies in a folder of skills. */
const anySkill = 'any/skill'

/** The place that the options name. */
export function toPlace(given: Arguments): Place {
  const { env } = given.io
  if (!flag(given, 'global')) return { isGlobal: false, root: process.cwd(), lockFolder: process.cwd(), env }
  return { isGlobal: true, root: homeFolder(env), lockFolder: dirname(configFile('skills.lock', env)), env }
}

/** The folders of skills that the options name, as targets without the skill's name; none where they name none. */
export function toSkillFolders(given: Arguments, place: Place): string[] {
  const [agent, dir] = [text(given, 'agent'), text(given, 'dir')]
  if (agent !== undefined && dir !== undefined) throw new UsageError('Give --agent or --dir, not both.')
  if (dir !== undefined) return [toFolder(place, resolve(dir))]
  const names = agent?.split(',').map((name) => name.trim())
  return names ? toAgentFolders(names, place.isGlobal, place.env).map((folder) => toFolder(place, folder)) : []
}

/** The folders of skills where nothing names others. */
export function toUsualFolders(place: Place): string[] {
  return toAgentFolders(['universal'], place.isGlobal, place.env).map((folder) => toFolder(place, folder))
}

/** A folder of skills as the lock says it. Throws {@link UsageError} for one that no lock may name. */
export function toFolder(place: Place, path: string): string {
  const folder = toRelative(place, resolve(place.root, path))
  if (isTarget(toSkillTarget(folder, anySkill), toShortName(anySkill), { anywhere: place.isGlobal })) return folder
  throw new UsageError(
    `${JSON.stringify(path)} cannot be a folder of skills: skills.lock has to name it for every system, so without ` +
      'colons, back-slashes, control characters and names that Windows keeps, and git keeps .git for itself.',
  )
}

/** The path of a folder of skills. Throws as {@link toTargetPath} does. */
export function toSkillParent(place: Place, folder: string): string {
  return dirname(toTargetPath(place, toSkillTarget(folder, anySkill)))
}

/** The target of a skill in a folder of skills. */
export function toSkillTarget(folder: string, fullName: string): string {
  return folder === '' ? toShortName(fullName) : `${folder}/${toShortName(fullName)}`
}

/** The path of a target. Throws where a link leads a project's target out of the project. */
export function toTargetPath(place: Place, target: string): string {
  const path = isAbsolute(target) ? target : join(place.root, ...target.split('/'))
  if (place.isGlobal) return path
  const [real, root] = [toRealPath(dirname(path)), realpathSync(place.root)]
  if (isInside(real, root)) return path
  throw new Error(`${target} leads out of this project, by a link to ${real}. Nothing was changed.`)
}

/** One name for a folder, whatever links lead to it, and also where it is yet to be made. */
export function toRealPath(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(toRealPath(parent), path.slice(parent.length))
}

/** The lock names folders below its root, so that it means the same on other machines; only a user's own names others. */
function toRelative({ root, isGlobal }: Place, path: string): string {
  if (isInside(path, root)) return relative(root, path).split(sep).join('/')
  if (isGlobal) return path.split(sep).join('/')
  throw new UsageError(
    `${path} lies outside of this folder, whose lock has to name it. Run this there, or use --global.`,
  )
}

function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
