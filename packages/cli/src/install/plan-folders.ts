import { basename, dirname, join } from 'node:path'
import type { Recalled, Requires } from '@skillstead/protocol'
import { toContentDigest, type ContentFile } from '@skillstead/client/verify'
import type { Wanted } from './fetch-package.ts'
import { describeEdits, readFolderState, toSeen, type FolderState } from './folder-state.ts'
import { toRealPath, toTargetPath } from './install-place.ts'
import { findLocked, toFolded, type LockedSkill } from './lock.ts'
import type { Session } from './session.ts'
import type { FolderChange } from './staging.ts'

/** A version with the folders that it is installed into. */
export interface Item extends Wanted {
  readonly source: string
  readonly targets: readonly string[]
  readonly warnings: readonly string[]
  /** Whether the registry reports that the scanner rates the version dangerous. */
  readonly isDangerous?: boolean
  /** The recall of the version, which the user accepted. */
  readonly recalled?: Recalled | undefined
  /** What the version requires, as the registry reports. */
  readonly needs?: Requires | undefined
  /** The ranges of the skills that the version requires, for the lock. */
  readonly requires?: LockedSkill['requires']
  /** The skills whose requirements add this item; absent for a skill that the command names. */
  readonly requiredBy?: readonly string[]
  /** The full name of the skill in the lock, if the owner of the skill has changed. */
  readonly formerName?: string | undefined
}

/**
 * A folder to write, and its content when the write was decided; `seen` is undefined if the content does not matter.
 */
type FolderWrite = Pick<FolderChange, 'path' | 'target' | 'seen'>

/** The planned action for an item. */
export interface ItemPlan {
  readonly item: Item
  readonly writes: readonly FolderWrite[]
  /** The reason why the item is left unchanged. */
  readonly skipped?: { readonly target: string; readonly reason: string }
}

/** Throws if two skills, which then have the same short name, would be installed in the same folder. */
export function refuseSharedFolder(items: readonly Item[]): void {
  const owners = new Map<string, string>()
  for (const { fullName, targets } of items) {
    for (const target of targets) {
      const other = owners.get(target)
      if (other !== undefined && other !== fullName)
        throw new Error(
          `${other} and ${fullName} would both be installed in ${target}. Install one of them elsewhere with --dir.`,
        )
      owners.set(target, fullName)
    }
  }
}

/**
 * Reads the folders of an item. A folder with unknown content blocks all folders of the item, unless --force is set.
 */
export async function planItem(session: Session, item: Item): Promise<ItemPlan> {
  refuseOtherDigest(session, item)
  const writes = new Map<string, FolderWrite>()
  const lockedName = item.formerName ?? item.fullName
  const locked = findLocked(session.lock, lockedName)
  for (const target of item.targets) {
    const path = toTargetPath(session.place, target)
    refuseClaimed(session, item, path)
    const state = await readFolderState(path, [item.digest, ...(locked ? [locked.digest] : [])], session.cache)
    if (state.kind === 'version' && state.digest === item.digest) continue
    const edits = session.force ? undefined : await findEdits(session, state, lockedName)
    if (edits) return { item, writes: [], skipped: { target, reason: edits } }
    // Folders of several agents can be the same folder through symbolic links.
    writes.set(toOnePath(path), { path, target, seen: session.force ? undefined : toSeen(state) })
  }
  return { item, writes: [...writes.values()] }
}

/** Throws if the digest differs from the locked digest: a version never changes, so one of the digests is false. */
function refuseOtherDigest({ lock }: Session, { fullName, version, digest }: Item): void {
  const locked = findLocked(lock, fullName)
  if (locked?.version !== version || locked.digest === digest) return
  throw new Error(
    `skills.lock has the digest ${locked.digest} for ${fullName}@${version}, but the registry returned ${digest}. ` +
      'A version never changes, so one of them is wrong. Nothing was changed. If the lock is wrong, run ' +
      `\`skillstead remove ${fullName}\`.`,
  )
}

/** A folder of another installed skill is never overwritten, even with --force. */
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
    `${claim[0]} is already installed in ${path}, the folder for ${item.fullName}. Remove it first, ` +
      'or pass another folder with --dir. Nothing was changed.',
  )
}

/**
 * The reason why a folder may not be overwritten; undefined if it may be. Content that the lock or the cache has is not
 * lost, so a folder with such content may be overwritten.
 */
export async function findEdits(session: Session, state: FolderState, fullName: string): Promise<string | undefined> {
  if (state.kind === 'missing') return undefined
  const locked = findLocked(session.lock, fullName)
  if (state.kind === 'version') {
    if (state.digest === locked?.digest || (await session.cache.find(state.digest))) return undefined
  }
  if (!locked) return state.kind === 'other' ? state.reason : 'its content is not in the lock'
  const published = await session.cache.find(locked.digest)
  // A changed file mode does not count: no work is lost with it.
  if (state.kind === 'version' && published && isSameBytes(state.files, published)) return undefined
  return describeEdits(state, locked.digest, published)
}

function isSameBytes(...both: [readonly ContentFile[], readonly ContentFile[]]): boolean {
  const [a, b] = both.map((files) => toContentDigest(files.map(({ path, bytes }) => ({ path, bytes }))))
  return a === b
}

/** The canonical path of a skill's folder, with symbolic links resolved. */
export function toOnePath(path: string): string {
  return toFolded(join(toRealPath(dirname(path)), basename(path)))
}
