import { readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import {
  isSkillName,
  isUsername,
  isVersion,
  limits,
  parseForeignJson,
  isRecord,
  toShortName,
  withoutUndefined,
} from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { checkPaths, isMcpServerName } from '@skillstead/skill-format/archives'
import { requireOwn } from '../files/file-access.ts'
import { replaceAlone } from '../files/write-whole.ts'

/** An installed version of a skill: its registry and its folders. */
export interface LockedSkill {
  readonly version: string
  /** The digest of the version, which covers all files of each folder. */
  readonly digest: string
  /** The URL of the registry; `local` for a registry in a folder. */
  readonly source: string
  /** The folders, relative to the lock's folder with `/` as separator; the last segment is the name of the skill. */
  readonly targets: readonly string[]
  /** The digests of the entries that `install --with-mcp` wrote to the project's MCP servers, by the server's name. */
  readonly mcp?: Readonly<Record<string, string>> | undefined
  /** The version ranges of the skills that this skill requires, by full name; absent if it requires no skill. */
  readonly requires?: Readonly<Record<string, string>> | undefined
}

/** The installed skills of a place by full name. Equal locks have equal bytes. */
export interface Lock {
  readonly version: 1
  readonly skills: Readonly<Record<string, LockedSkill>>
}

/** The `source` of skills from a registry in a folder, whose path means nothing on other machines. */
export const localSource = 'local'

export interface LockOptions {
  /** Whether targets may be anywhere: only in the lock of a user account, which is not part of a project. */
  readonly anywhere?: boolean
}

const lockBytesMax = 4 * 1024 * 1024

function lockFile(folder: string): string {
  return join(folder, 'skills.lock')
}

/**
 * Reads the lock of a folder; returns an empty lock if there is none. Throws if the lock is invalid, or if it names a
 * folder that `options` do not allow.
 */
export async function readLock(folder: string, options: LockOptions = {}): Promise<Lock> {
  const file = lockFile(folder)
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return { version: 1, skills: {} }
  if (!stats.isFile()) throw toLockError(file, 'it is not a file')
  if (options.anywhere) requireOwn(file, stats)
  if (stats.size > lockBytesMax)
    throw new Error(`The lock file ${file} is too large: ${stats.size} bytes, at most ${lockBytesMax} are allowed.`)
  return parseLock(file, readFileSync(file, 'utf8'), options)
}

/**
 * Replaces a lock atomically while other commands are locked out. The bytes depend only on its content; an unchanged
 * lock is not written, because the folder may be read-only.
 */
export async function changeLock(
  folder: string,
  options: LockOptions,
  change: (skills: Lock['skills']) => Lock['skills'],
): Promise<void> {
  const isSame = (skills: Lock['skills']) => toLockText(change(skills)) === toLockText(skills)
  if (isSame((await readLock(folder, options)).skills)) return
  const file = lockFile(folder)
  await replaceAlone(file, async () => {
    const text = toLockText(change((await readLock(folder, options)).skills))
    // A lock that could not be parsed again would break every later command in this folder.
    parseLock(file, text, options)
    return text
  })
}

function toLockText(skills: Lock['skills']): string {
  return `${JSON.stringify({ version: 1, skills: sortSkills(skills) }, null, 2)}\n`
}

function sortSkills(skills: Lock['skills']): Lock['skills'] {
  const entries = Object.entries(skills).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    entries.map(([name, { version, digest, source, targets, mcp, requires }]) => {
      const sorted = { targets: targets.toSorted(), mcp: sortRecord(mcp), requires: sortRecord(requires) }
      return [name, withoutUndefined({ version, digest, source, ...sorted })]
    }),
  )
}

function sortRecord(record: Readonly<Record<string, string>> = {}): Record<string, string> | undefined {
  const entries = Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return entries.length > 0 ? Object.fromEntries(entries) : undefined
}

/** Parses a lock file and validates all of it: the file comes with a project, which may be from a stranger. */
function parseLock(file: string, text: string, options: LockOptions): Lock {
  const lock = parseLockJson(file, text)
  if (!isRecord(lock) || !isRecord(lock.skills)) throw toLockError(file, 'it is not a lock of skills')
  if (lock.version !== 1) throw new Error(`${file} has an unsupported version. Update skillstead.`)
  const skills = Object.entries(lock.skills).map(([name, skill]) => {
    const read = readLockedSkill(name, skill, options)
    if (typeof read === 'string') throw toLockError(file, `of ${JSON.stringify(name)}, ${read}`)
    return [name, read] as const
  })
  refuseSharedTargets(file, skills)
  return { version: 1, skills: Object.fromEntries(skills) }
}

/**
 * Throws for two skills with the same folder or nested folders: the skills would overwrite each other. Paths are
 * compared case-insensitively, as some file systems do.
 */
function refuseSharedTargets(file: string, skills: readonly (readonly [string, LockedSkill])[]): void {
  const targets = skills.flatMap(([name, skill]) =>
    skill.targets.map((target) => ({ name, target: `${toFolded(target)}/` })),
  )
  const sorted = targets.toSorted((a, b) => (a.target < b.target ? -1 : 1))
  const shared = sorted.findIndex(({ target }, i) => sorted[i + 1]?.target.startsWith(target))
  if (shared === -1) return
  const [one, other] = [sorted[shared]!, sorted[shared + 1]!]
  throw toLockError(file, `${one.name} and ${other.name} have the same folder ${one.target}`)
}

function parseLockJson(file: string, text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    const isMerge = /^(?:<{7}|={7}|>{7})/m.test(text)
    throw toLockError(file, isMerge ? 'it contains unresolved merge conflict markers' : 'it is not JSON')
  }
}

/** A skill of a lock, or its problem as text. */
function readLockedSkill(name: string, skill: unknown, options: LockOptions): LockedSkill | string {
  if (!isFullName(name)) return 'its name is not a full name'
  if (!isRecord(skill)) return 'its entry is not an object'
  const { version, digest, source, targets, mcp, requires } = skill
  if (typeof version !== 'string' || !isVersion(version)) return 'its version is invalid'
  if (!isDigest(digest)) return 'its digest is invalid'
  if (typeof source !== 'string' || !isSource(source)) return 'its source is not a URL'
  if (!Array.isArray(targets) || targets.length > 100) return 'its targets are not a list of folders'
  if (mcp !== undefined && !isServerRecord(mcp)) return 'its MCP servers are invalid'
  if (requires !== undefined && !isRangeRecord(requires)) return 'its requirements are invalid'
  const wrong = targets.find((target) => !isTarget(target, toShortName(name), options))
  if (wrong === undefined) return { version, digest, source, targets, mcp, requires }
  return `its target ${JSON.stringify(wrong)} is not an allowed folder`
}

/** Whether a text is `owner/name`. */
export function isFullName(text: string): boolean {
  const [owner = '', name = '', ...more] = text.split('/')
  return more.length === 0 && isUsername(owner) && isSkillName(name)
}

/** The installed version of a skill; undefined for a skill that is not in the lock. */
export function findLocked({ skills }: Lock, fullName: string): LockedSkill | undefined {
  return Object.hasOwn(skills, fullName) ? skills[fullName] : undefined
}

/** Whether a value is a digest in the format of registries. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)
}

function isServerRecord(mcp: unknown): mcp is Record<string, string> {
  if (!isRecord(mcp)) return false
  const servers = Object.entries(mcp)
  return servers.length <= 100 && servers.every(([name, digest]) => isMcpServerName(name) && isDigest(digest))
}

function isRangeRecord(requires: unknown): requires is Record<string, string> {
  if (!isRecord(requires)) return false
  const ranges = Object.entries(requires)
  return ranges.length <= limits.requirementsMax && ranges.every(([name, range]) => isFullName(name) && isRange(range))
}

function isRange(range: unknown): boolean {
  return typeof range === 'string' && parseVersionRange(range) !== undefined
}

function isSource(source: string): boolean {
  return source === localSource || (/^https?:\/\//.test(source) && URL.canParse(source))
}

/** Folds case and Unicode normalization, to compare paths as some file systems do. */
export function toFolded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

/**
 * Whether a lock may name this folder: it must be inside the place and named like the skill, so that a lock cannot make
 * a command overwrite other folders, on any system.
 */
export function isTarget(target: unknown, name: string, { anywhere = false }: LockOptions): boolean {
  if (typeof target !== 'string' || target.length > 1000 || /\p{Cc}/u.test(target)) return false
  const segments = target.split('/')
  if (anywhere && isAbsolute(target)) return segments.at(-1) === name && !segments.includes('..')
  // Check each segment on its own: the depth limit for files of a version does not apply to a project's folders.
  const problems = segments.flatMap((segment) => checkPaths([{ path: `x/${segment.normalize('NFC')}` }]))
  return segments.at(-1) === name && problems.length === 0
}

function toLockError(file: string, problem: string): Error {
  return new Error(`${file} cannot be used: ${problem}. Fix it, or restore an earlier one. Nothing was changed.`)
}
