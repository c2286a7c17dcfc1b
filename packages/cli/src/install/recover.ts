import { lstatSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { listAgentFolders } from './agents.ts'
import { readFolderState } from './folder-state.ts'
import type { Lock } from './lock.ts'
import { toFolder, toSkillParent, toTargetPath, type Place } from './install-place.ts'
import { carryOn, isThere, listStagings, readJournal, takeBack } from './staging.ts'
import type { JournalEntry, StagingPlaces } from './staging.ts'

/** Above what any install takes: a process of the same id is then another one. */
const installMsMax = 60 * 60_000

/**
 * Clears away what interrupted commands left: a change that the lock names is finished, any other taken back. The lock
 * is written between both, at one moment, so that all folders of a command change or none.
 */
export async function recover(place: Place, lock: Lock, folders: readonly string[]): Promise<void> {
  const targets = Object.values(lock.skills).flatMap((skill) => skill.targets)
  const parents = new Set([
    ...targets.map((target) => dirname(toTargetPath(place, target))),
    ...folders.map((folder) => toSkillParent(place, folder)),
    // A first install that was killed is in no lock.
    ...listAgentParents(place),
  ])
  for (const parent of parents) {
    for (const { folder, pid } of listStagings(parent)) {
      if (!isAtWork(folder, pid)) await finish(parent, folder, lock)
    }
  }
}

/** The folders that agents have here; not those that a link leads out of a project. */
function listAgentParents(place: Place): string[] {
  return listAgentFolders(place.isGlobal, place.env).flatMap((folder) => {
    try {
      return toSkillParent(place, toFolder(place, folder))
    } catch {
      return []
    }
  })
}

function isAtWork(folder: string, pid: number): boolean {
  const stats = statSync(folder, { throwIfNoEntry: false })
  // It went just now.
  if (!stats) return true
  if (Date.now() - stats.mtimeMs > installMsMax) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function finish(parent: string, folder: string, lock: Lock): Promise<void> {
  const places = { parent, next: join(folder, 'new'), former: join(folder, 'old') }
  // A project may bring what looks like ours: by links in it folders elsewhere would be moved.
  if ([places.next, places.former].some(isOther)) return
  try {
    for (const entry of readJournal(folder)) {
      if (isCommitted(entry, lock)) carryOn(places, entry)
      else await takeBackOwn(places, entry)
    }
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A folder that may be read only: it stays as it is until somebody comes who may change it.
  }
}

function isOther(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats !== undefined && !stats.isDirectory()
}

function isCommitted({ fullName, target, digest }: JournalEntry, { skills }: Lock): boolean {
  const locked = Object.hasOwn(skills, fullName) ? skills[fullName] : undefined
  const isNamed = locked?.targets.includes(target) ?? false
  return digest === null ? !isNamed : isNamed && locked?.digest === digest
}

/** What somebody put there since stays. */
async function takeBackOwn(places: StagingPlaces, entry: JournalEntry): Promise<void> {
  const path = join(places.parent, entry.name)
  if (isThere(path) && !isThere(join(places.next, entry.name))) {
    const state = await readFolderState(path, entry.digest === null ? [] : [entry.digest])
    if (state.kind !== 'version' || state.digest !== entry.digest) return
  }
  takeBack(places, entry)
}
