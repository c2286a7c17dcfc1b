import { basename, dirname, join } from 'node:path'
import { describeEdits, readFolderState, toSeen, type FolderState } from './folder-state.ts'
import type { Wanted } from './fetch-package.ts'
import { toFolded } from './lock.ts'
import { toRealPath, toTargetPath } from './install-place.ts'
import type { Session } from './session.ts'
import type { FolderChange } from './staging.ts'

/** A version that is to lie in some folders. */
export interface Item extends Wanted {
  readonly source: string
  readonly targets: readonly string[]
  readonly warnings: readonly string[]
  /** Whether its registry says that the scanner calls it dangerous. */
  readonly isDangerous?: boolean
  /** The full name that the lock has it under, where its owner has changed. */
  readonly formerName?: string | undefined
}

/** A folder to be written, and what was in it when that was decided; not said where it does not matter. */
type FolderWrite = Pick<FolderChange, 'path' | 'target' | 'seen'>

/** What there is to do for an item. */
export interface ItemPlan {
  readonly item: Item
  readonly writes: readonly FolderWrite[]
  /** Why it is left as it is. */
  readonly skipped?: { readonly target: string; readonly reason: string }
}

/** Looks at the folders of an item. One that holds what nobody else has stands in the way of all, but by force. */
export async function planItem(session: Session, item: Item): Promise<ItemPlan> {
  refuseOtherDigest(session, item)
  const writes = new Map<string, FolderWrite>()
  const lockedName = item.formerName ?? item.fullName
  const locked = Object.hasOwn(session.lock.skills, lockedName) ? session.lock.skills[lockedName] : undefined
  for (const target of item.targets) {
    const path = toTargetPath(session.place, target)
    refuseClaimed(session, item, path)
    const state = await readFolderState(path, [item.digest, ...(locked ? [locked.digest] : [])])
    if (state.kind === 'version' && state.digest === item.digest) continue
    const edits = session.force ? undefined : await findEdits(session, state, lockedName)
    if (edits) return { item, writes: [], skipped: { target, reason: edits } }
    // Folders of several agents may be one, by links.
    writes.set(toOnePath(path), { path, target, seen: session.force ? undefined : toSeen(state) })
  }
  return { item, writes: [...writes.values()] }
}

/** A version never changes, so that of two digests one is a lie. */
function refuseOtherDigest({ lock }: Session, { fullName, version, digest }: Item): void {
  const locked = Object.hasOwn(lock.skills, fullName) ? lock.skills[fullName] : undefined
  if (locked?.version !== version || locked.digest === digest) return
  throw new Error(
    `skills.lock has the digest ${locked.digest} for ${fullName}@${version}, and the registry says ${digest}. ` +
      'A version never changes, so one of them is wrong, and nothing was changed. If the lock is, ' +
      `\`skillstead remove ${fullName}\` takes the skill out of it.`,
  )
}

/** A folder of another installed skill is not taken from it, by no force. */
function refuseClaimed({ lock, place }: Session, item: Item, path: string): void {
  const one = toOnePath(path)
  const claim = Object.entries(lock.skills).find(
    ([name, { targets }]) =>
      name !== item.fullName &&
      name !== item.formerName &&
      targets.some((target) => toOnePath(toTargetPath(place, target)) === one),
  )
  if (!claim) return
  throw new Error(
    `${claim[0]} is installed in ${path}, where ${item.fullName} would go. Remove that first, ` +
      'or give another folder with --dir. Nothing was changed.',
  )
}

/**
 * Why a folder may not be written over. What the lock has there may, and what the cache has: it would be no loss.
 * Undefined where it may.
 */
export async function findEdits(session: Session, state: FolderState, fullName: string): Promise<string | undefined> {
  if (state.kind === 'missing') return undefined
  const locked = Object.hasOwn(session.lock.skills, fullName) ? session.lock.skills[fullName] : undefined
  if (state.kind === 'version') {
    if (state.digest === locked?.digest || (await session.cache.find(state.digest))) return undefined
  }
  if (!locked) return state.kind === 'other' ? state.reason : 'something else is there, which is not in the lock'
  return describeEdits(state, locked.digest, await session.cache.find(locked.digest))
}

/** One name for a folder of a skill, whatever links lead to it. */
export function toOnePath(path: string): string {
  return toFolded(join(toRealPath(dirname(path)), basename(path)))
}
