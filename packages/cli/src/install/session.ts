import { UsageError, flag, text, type Arguments, type Option } from '../command.ts'
import { toNodeAddress } from '../config.ts'
import type { Output } from '../output.ts'
import { findUrl, withApi } from '../place.ts'
import type { RegistryApi } from '@skillstead/protocol'
import { cacheFolder, openCache, type PackageCache } from './cache.ts'
import { localSource, readLock, toShortName, type Lock, type LockOptions, type LockedSkill } from './lock.ts'
import { toPlace, toSkillFolders, type Place } from './install-place.ts'
import { recover } from './recover.ts'

/** What a command on installed skills works with. */
export interface Session {
  readonly given: Arguments
  readonly output: Output
  readonly place: Place
  readonly lock: Lock
  readonly cache: PackageCache
  /** The folders of skills that were asked for; none where the usual ones are meant. */
  readonly folders: readonly string[]
  /** Whether what somebody edited may be written over. */
  readonly force: boolean
}

/** What stands in the way of a lost edit. */
export const forceOption: Record<string, Option> = {
  force: { help: 'also where somebody edited the files; the edits are lost' },
}

/** Reads the lock, once what an interrupted command left is cleared away. */
export async function openSession(given: Arguments, output: Output): Promise<Session> {
  const place = toPlace(given)
  const folders = toSkillFolders(given, place)
  const lock = await readPlaceLock(place)
  await recover(place, lock, folders)
  return {
    given,
    output,
    place,
    lock,
    cache: openCache(cacheFolder(given.io.env)),
    folders,
    force: flag(given, 'force'),
  }
}

/** The lock of a place, as it is now. */
export function readPlaceLock(place: Place): Promise<Lock> {
  return readLock(place.lockFolder, toLockOptions(place))
}

/** What the lock of a place may say. */
export function toLockOptions({ isGlobal }: Place): LockOptions {
  return { anywhere: isGlobal }
}

/** An installed skill by its full name, or by the short one. Throws where there is none, or more than one. */
export function getLocked({ lock, place }: Session, name: string): [fullName: string, LockedSkill] {
  const found = Object.entries(lock.skills).filter(([fullName]) =>
    name.includes('/') ? fullName === name : toShortName(fullName) === name,
  )
  if (found.length === 1) return found[0]!
  if (found.length > 1) throw new Error(`'${name}' is ${found.map(([one]) => one).join(' and ')} here: say which.`)
  const where = place.isGlobal ? 'for you; without --global the project is looked at' : 'in this folder'
  throw new Error(`'${name}' is not installed ${where}. \`skillstead list\` shows what is.`)
}

/** The installed skills that were named; all of them where none was. */
export function listLocked(session: Session): [fullName: string, LockedSkill][] {
  const { words } = session.given
  if (words.length === 0) return Object.entries(session.lock.skills)
  return [...new Map(words.map((word) => getLocked(session, word)))]
}

/** The place of the registry that the options name, as a lock says it. */
export function toSource(given: Arguments): string {
  const url = findUrl(given)
  return url === undefined ? localSource : toNodeAddress(url)
}

/**
 * Asks the registry that a skill came from; the one that the options name goes before it. A key goes with the request
 * only where it is meant for that registry: the lock may name one of a stranger.
 */
export function withSource<T>(given: Arguments, source: string, work: (api: RegistryApi) => Promise<T>): Promise<T> {
  const isStated = ['url', 'data', 'database-url'].some((option) => text(given, option) !== undefined)
  if (isStated || toSource(given) === source) return withApi(given, work)
  if (source === localSource)
    throw new UsageError(
      'Some of the skills came from a registry on files: say which with --data DIR, or --url for another.',
    )
  return withApi({ ...given, options: { ...given.options, url: source, key: undefined } }, work)
}
