import { readFileSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { checkPaths } from '@skillstead/skill-format/archives'
import { isSkillName, isUsername, isVersion, parseForeignJson } from '@skillstead/protocol'
import { replaceAlone } from '../write-whole.ts'

/** What is installed: one version of a skill, where it came from, and the folders that hold it. */
export interface LockedSkill {
  readonly version: string
  /** The digest of the version: over its files, and so of what lies in each folder. */
  readonly digest: string
  /** The address of the registry; `local` for one on files. */
  readonly source: string
  /** The folders, relative to the one of the lock with `/` between names; the last name is the skill's own. */
  readonly targets: readonly string[]
}

/** The installed skills of a folder by full name. The same lock gives the same bytes. */
export interface Lock {
  readonly version: 1
  readonly skills: Readonly<Record<string, LockedSkill>>
}

/** The source of what came from a registry on files, whose place is nothing to others. */
export const localSource = 'local'

export interface LockOptions {
  /** Whether its targets may lie anywhere: in a user's own lock, which comes with no project. */
  readonly anywhere?: boolean
}

const lockBytesMax = 4 * 1024 * 1024

/** The lock file of a folder. */
function lockFile(folder: string): string {
  return join(folder, 'skills.lock')
}

/** The lock of a folder; an empty one where there is none. Throws for one that cannot be read, or that leads elsewhere. */
export async function readLock(folder: string, options: LockOptions = {}): Promise<Lock> {
  const file = lockFile(folder)
  const stats = statSync(file, { throwIfNoEntry: false })
  if (!stats) return { version: 1, skills: {} }
  if (!stats.isFile()) throw toLockError(file, 'it is no file')
  if (stats.size > lockBytesMax) throw new Error(`${file} has ${stats.size} bytes, which no lock has.`)
  return parseLock(file, readFileSync(file, 'utf8'), options)
}

/**
 * Puts a lock in the place of the former one, the whole of it or nothing, while no other command does. Its bytes depend
 * on what it says alone; where that is what it said before, nothing is written, for the folder may be read only.
 */
export async function changeLock(
  folder: string,
  options: LockOptions,
  change: (skills: Lock['skills']) => Lock['skills'],
): Promise<void> {
  const isSame = (skills: Lock['skills']) => toText(change(skills)) === toText(skills)
  if (isSame((await readLock(folder, options)).skills)) return
  const file = lockFile(folder)
  await replaceAlone(file, async () => {
    const text = toText(change((await readLock(folder, options)).skills))
    // What could not be read again would be the end of every command here.
    parseLock(file, text, options)
    return text
  })
}

function toText(skills: Lock['skills']): string {
  return `${JSON.stringify({ version: 1, skills: sortSkills(skills) }, null, 2)}\n`
}

function sortSkills(skills: Lock['skills']): Lock['skills'] {
  const entries = Object.entries(skills).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(
    entries.map(([name, { version, digest, source, targets }]) => [
      name,
      { version, digest, source, targets: targets.toSorted() },
    ]),
  )
}

/** A lock comes with a project, and so perhaps from a stranger: what it says is not believed before it was checked. */
function parseLock(file: string, text: string, options: LockOptions): Lock {
  const lock = parseJson(file, text)
  if (!isRecord(lock) || !isRecord(lock.skills)) throw toLockError(file, 'it is no lock of skills')
  if (lock.version !== 1) throw new Error(`${file} is of another form than this program knows; it may be too old.`)
  const skills = Object.entries(lock.skills).map(([name, skill]) => {
    const problem = findProblem(name, skill, options)
    if (problem) throw toLockError(file, `of ${JSON.stringify(name)}, ${problem}`)
    return [name, skill as unknown as LockedSkill] as const
  })
  refuseSharedTargets(file, skills)
  return { version: 1, skills: Object.fromEntries(skills) }
}

/** Two skills in one folder, or one inside another, would write over each other; also where case is ignored. */
function refuseSharedTargets(file: string, skills: readonly (readonly [string, LockedSkill])[]): void {
  const targets = skills.flatMap(([name, skill]) =>
    skill.targets.map((target) => ({ name, target: `${toFolded(target)}/` })),
  )
  const sorted = targets.toSorted((a, b) => (a.target < b.target ? -1 : 1))
  const shared = sorted.findIndex(({ target }, i) => sorted[i + 1]?.target.startsWith(target))
  if (shared === -1) return
  const [one, other] = [sorted[shared]!, sorted[shared + 1]!]
  throw toLockError(file, `${one.name} and ${other.name} have the same folder, ${one.target}`)
}

function parseJson(file: string, text: string): unknown {
  try {
    return parseForeignJson(text)
  } catch {
    const isMerge = /^(?:<{7}|={7}|>{7})/m.test(text)
    throw toLockError(file, isMerge ? 'it holds the marks of a merge that was not finished' : 'it is no JSON')
  }
}

function findProblem(name: string, skill: unknown, options: LockOptions): string | undefined {
  if (!isFullName(name)) return 'the name is no full name of a skill'
  if (!isRecord(skill)) return 'nothing is said'
  const { version, digest, source, targets } = skill
  if (typeof version !== 'string' || !isVersion(version)) return 'the version is none'
  if (!isDigest(digest)) return 'the digest is none'
  if (typeof source !== 'string' || !isSource(source)) return 'the source is no address'
  if (!Array.isArray(targets) || targets.length > 100) return 'the targets are no list of folders'
  const wrong = targets.find((target) => !isTarget(target, toShortName(name), options))
  return wrong === undefined ? undefined : `the target ${JSON.stringify(wrong)} is no folder of this project for it`
}

/** Whether a text is `owner/name`. */
export function isFullName(text: string): boolean {
  const [owner = '', name = '', ...more] = text.split('/')
  return more.length === 0 && isUsername(owner) && isSkillName(name)
}

/** The name without its owner, which is also that of its folder. */
export function toShortName(fullName: string): string {
  return fullName.slice(fullName.indexOf('/') + 1)
}

/** Whether this is a digest as registries write them. */
export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && /^sha256:[0-9a-f]{64}$/.test(value)
}

function isSource(source: string): boolean {
  return source === localSource || (/^https?:\/\//.test(source) && URL.canParse(source))
}

/** A path as file systems compare that ignore case and normalisation. */
export function toFolded(path: string): string {
  return path.normalize('NFC').toLowerCase()
}

/**
 * Whether a lock may name this folder: below it and named as the skill, so that no lock has the folders of others written
 * over, and on every system the same.
 */
export function isTarget(target: unknown, name: string, { anywhere = false }: LockOptions): boolean {
  if (typeof target !== 'string' || target.length > 1000 || /\p{Cc}/u.test(target)) return false
  const segments = target.split('/')
  if (anywhere && isAbsolute(target)) return segments.at(-1) === name && !segments.includes('..')
  // Segment by segment: what a version may hold is of limited depth, and a project is not.
  const problems = segments.flatMap((segment) => checkPaths([{ path: `x/${segment.normalize('NFC')}` }]))
  return segments.at(-1) === name && problems.length === 0
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toLockError(file: string, problem: string): Error {
  return new Error(`${file} cannot be used: ${problem}. Mend it, or take an earlier one; nothing was changed.`)
}
