import { type RegistryApi, toShortName } from '@skillstead/protocol'
import { UsageError, flag, textOption, type Arguments, type Options } from '../command/command.ts'
import { cacheFolder, toNodeAddress } from '../files/config.ts'
import { findUrl, withApi } from '../registry/place.ts'
import type { Output } from '../terminal/output.ts'
import { openCache, type PackageCache } from './cache.ts'
import { toInstallPlace, toSkillFolders, type Place } from './install-place.ts'
import { localSource, readLock, type Lock, type LockOptions, type LockedSkill } from './lock.ts'
import { openRecalls, type KnownRecalls } from './recalls.ts'
import { recoverInstalls } from './recover.ts'

/** The state of a command on installed skills. */
export interface Session {
  readonly given: Arguments
  readonly output: Output
  readonly place: Place
  readonly lock: Lock
  readonly cache: PackageCache
  readonly recalls: KnownRecalls
  /** The requested folders of skills; empty for the default folders. */
  readonly folders: readonly string[]
  /** Whether local changes may be overwritten. */
  readonly force: boolean
}

/** Option that allows to overwrite local changes. */
export const forceOption: Options = {
  force: { help: 'overwrite local changes to the files; the changes are lost' },
}

/** Cleans up after interrupted commands, then reads the lock. */
export async function openSession(given: Arguments, output: Output): Promise<Session> {
  const place = toInstallPlace(given)
  const folders = toSkillFolders(given, place)
  const lock = await readPlaceLock(place)
  await recoverInstalls(place, lock, folders)
  return {
    given,
    output,
    place,
    lock,
    cache: openCache(cacheFolder(given.io.env)),
    recalls: openRecalls(cacheFolder(given.io.env)),
    folders,
    force: flag(given, 'force'),
  }
}

/** Reads the current lock of a place. */
export function readPlaceLock(place: Place): Promise<Lock> {
  return readLock(place.lockFolder, toLockOptions(place))
}

/** What the lock of a place may contain. */
export function toLockOptions({ isGlobal }: Place): LockOptions {
  return { anywhere: isGlobal }
}

/** An installed skill by full or short name. Throws if no installed skill has the name, or if several have. */
export function getLocked({ lock, place }: Session, name: string): [fullName: string, LockedSkill] {
  const found = Object.entries(lock.skills).filter(([fullName]) =>
    name.includes('/') ? fullName === name : toShortName(fullName) === name,
  )
  if (found.length === 1) return found[0]!
  if (found.length > 1) {
    const names = found.map(([one]) => one).join(' and ')
    throw new Error(`'${name}' is ambiguous: ${names}. Use the full name.`)
  }
  const where = place.isGlobal
    ? 'for your user account. Without --global the command uses the project'
    : 'in this folder'
  throw new Error(`'${name}' is not installed ${where}. Run \`skillstead list\` to see installed skills.`)
}

/** The installed skills that were named; all installed skills if none was. */
export function listLocked(session: Session): [fullName: string, LockedSkill][] {
  const { words } = session.given
  if (words.length === 0) return Object.entries(session.lock.skills)
  return [...new Map(words.flatMap((word) => (word === undefined ? [] : [getLocked(session, word)])))]
}

/** The registry that the options select, in the form of `source` in the lock. */
export function toLockSource(given: Arguments): string {
  const url = findUrl(given)
  return url === undefined ? localSource : toNodeAddress(url)
}

/**
 * Runs `work` with the registry that a skill came from, or with the registry that the options name. The API key is sent
 * only to the registry that it belongs to: a lock from a stranger may name any registry.
 */
export function withSource<T>(given: Arguments, source: string, work: (api: RegistryApi) => Promise<T>): Promise<T> {
  const isStated = ['url', 'data', 'database-url'].some((option) => textOption(given, option) !== undefined)
  if (isStated || toLockSource(given) === source) return withApi(given, work, { installs: true })
  if (source === localSource)
    throw new UsageError(
      'Some of the skills came from a registry in a folder. Pass that folder with --data DIR, or another node with --url.',
    )
  const options = { ...given.options, url: source, key: undefined }
  return withApi({ ...given, options }, work, { installs: true })
}
