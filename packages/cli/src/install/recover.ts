import { attempt } from '@skillstead/protocol'
import { lstatSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cacheFolder } from '../files/config.ts'
import { isRunning } from '../files/is-running.ts'
import { listAgentFolders } from './agents.ts'
import { openCache, type PackageCache } from './cache.ts'
import { readFolderState } from './folder-state.ts'
import { toSkillFolderPath, toSkillParent, toTargetPath, type Place } from './install-place.ts'
import { findLocked, type Lock } from './lock.ts'
import {
  completeSwap,
  isThere,
  listStagings,
  readJournal,
  takeBack,
  type JournalEntry,
  type StagingPlaces,
} from './staging.ts'

/** A time longer than any install takes: an older staging folder is from an earlier process with the same id. */
const installMsMax = 60 * 60_000

/**
 * Cleans up after interrupted commands. Changes that the lock contains are finished, other changes are undone. A
 * command writes the lock atomically, so either all of its folders change or none.
 */
export async function recoverInstalls(place: Place, lock: Lock, folders: readonly string[]): Promise<void> {
  const targets = Object.values(lock.skills).flatMap((skill) => skill.targets)
  const parents = new Set([
    ...targets.map((target) => dirname(toTargetPath(place, target))),
    ...folders.map((folder) => toSkillParent(place, folder)),
    // A first install that was killed is in no lock, so the folders of all agents are searched.
    ...listAgentParents(place),
  ])
  const cache = openCache(cacheFolder(place.env))
  for (const parent of parents) {
    for (const { folder, pid } of listStagings(parent)) {
      if (!isAtWork(folder, pid)) await finishStaged(parent, folder, lock, cache)
    }
  }
}

/** The existing folders of agents, except folders to which a symbolic link leads out of the project. */
function listAgentParents(place: Place): string[] {
  const folders = listAgentFolders(place.isGlobal, place.env)
  return folders.flatMap((folder) => attempt(() => toSkillParent(place, toSkillFolderPath(place, folder))) ?? [])
}

function isAtWork(folder: string, pid: number): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false })
  // A folder that was deleted meanwhile needs no cleanup.
  if (!stats) return true
  return Date.now() - stats.mtimeMs <= installMsMax && isRunning(pid)
}

async function finishStaged(parent: string, folder: string, lock: Lock, cache: PackageCache): Promise<void> {
  const places = { parent, next: join(folder, 'new'), former: join(folder, 'old') }
  // A project may contain fake staging folders whose symbolic links would make us move folders elsewhere.
  if ([places.next, places.former].some(isNoFolder)) return
  try {
    for (const entry of readJournal(folder)) {
      if (isCommitted(entry, lock)) completeSwap(places, entry)
      else await takeBackOwn(places, entry, cache)
    }
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // The staging folder may be read-only: it stays until a command with write access runs.
  }
}

function isNoFolder(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isDirectory()
}

function isCommitted({ fullName, target, digest }: JournalEntry, lock: Lock): boolean {
  const locked = findLocked(lock, fullName)
  const isNamed = locked?.targets.includes(target) ?? false
  return digest === null ? !isNamed : isNamed && locked?.digest === digest
}

/** Undoes the change of a folder, unless another process has put other content there since. */
async function takeBackOwn(places: StagingPlaces, entry: JournalEntry, cache: PackageCache): Promise<void> {
  const path = join(places.parent, entry.name)
  if (isThere(path) && !isThere(join(places.next, entry.name))) {
    const state = await readFolderState(path, entry.digest === null ? [] : [entry.digest], cache)
    if (state.kind !== 'version' || state.digest !== entry.digest) return
  }
  takeBack(places, entry)
}
