import { attempt } from '@skillstead/protocol'
import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ContentFile } from '@skillstead/client/verify'
import { readFolderState, toSeen } from './folder-state.ts'

/** A skill's folder that is to be replaced, or removed if there is no `digest`. */
export interface FolderChange {
  readonly path: string
  readonly target: string
  readonly fullName: string
  readonly digest?: string
  /**
   * The digest of the folder when the change was decided, null for no folder; undefined if any content may be replaced.
   */
  readonly seen?: string | null | undefined
  /** Reads the new content. */
  readonly readFiles?: () => Promise<readonly ContentFile[]>
}

/** Journal of a staging folder: enough to finish or undo the change after a crash. */
export interface JournalEntry {
  readonly name: string
  readonly target: string
  readonly fullName: string
  readonly digest: string | null
}

/** A folder next to the skills in which a change is prepared. Its name begins with a dot, so that agents ignore it. */
export interface Staging {
  /** Writes the new content. */
  add(change: FolderChange): Promise<void>
  /** Writes the journal to disk. */
  seal(): void
  /** Swaps each new folder with the old one. */
  swap(): void
  /** Throws if a swapped-out folder differs from its digest in `seen`: another process wrote to it meanwhile. */
  check(): Promise<void>
  /** Undoes the swap. Returns the folders whose former content could not be restored. */
  undo(): string[]
  /** Deletes the staging folder, and empty folders that were created for it. */
  close(): void
}

const stagingPattern = /^\.skillstead-(\d+)-[0-9a-f]{8}$/
const journalName = 'journal.json'

/** Creates a staging folder in a folder of skills, which is created as well if missing. */
export function createStaging(parent: string): Staging {
  const made = mkdirSync(parent, { recursive: true })
  const folder = join(parent, `.skillstead-${process.pid}-${randomBytes(4).toString('hex')}`)
  const places: StagingPlaces = { parent, next: join(folder, 'new'), former: join(folder, 'old') }
  for (const one of [folder, places.next, places.former]) mkdirSync(one)
  const entries: JournalEntry[] = []
  const seen = new Map<JournalEntry, string | null>()
  const swapped: JournalEntry[] = []
  return {
    async add({ path, target, fullName, digest = null, seen: before, readFiles }) {
      const entry = { name: basename(path), target, fullName, digest }
      if (readFiles) writeFiles(join(places.next, entry.name), await readFiles())
      entries.push(entry)
      if (before !== undefined) seen.set(entry, before)
    },
    seal: () => writeFileSync(join(folder, journalName), JSON.stringify(entries), { flush: true }),
    swap() {
      for (const entry of entries) {
        swapped.push(entry)
        moveIfThere(join(parent, entry.name), join(places.former, entry.name))
        if (entry.digest !== null) renameSync(join(places.next, entry.name), join(parent, entry.name))
      }
    },
    async check() {
      for (const [{ name, target }, before] of seen) await requireSeen(join(places.former, name), target, before)
    },
    undo() {
      const taken = swapped.splice(0).toReversed()
      return taken.flatMap((entry) => (isTakenBack(places, entry) ? [] : join(places.former, entry.name)))
    },
    close() {
      rmSync(folder, { recursive: true, force: true })
      if (made !== undefined) removeEmpty(parent, made)
    },
  }
}

/** The folder of the skills, and the folders with the new and the former content. */
export interface StagingPlaces {
  readonly parent: string
  readonly next: string
  readonly former: string
}

/** Restores the former folder; does nothing if it was not swapped. */
export function takeBack({ parent, next, former }: StagingPlaces, { name, digest }: JournalEntry): void {
  const isSwapped = digest !== null && !isThere(join(next, name))
  if (isSwapped) moveIfThere(join(parent, name), join(next, name))
  if (!isThere(join(parent, name))) moveIfThere(join(former, name), join(parent, name))
}

function isTakenBack(places: StagingPlaces, entry: JournalEntry): boolean {
  try {
    takeBack(places, entry)
    return !isThere(join(places.former, entry.name))
  } catch {
    return false
  }
}

async function requireSeen(former: string, target: string, before: string | null): Promise<void> {
  const state = await readFolderState(former, before === null ? [] : [before])
  if (toSeen(state) === before) return
  throw new Error(`${target} was changed by another process meanwhile. This command changed nothing; run it again.`)
}

/** Moves the new folder into place if the old one is already swapped out. */
export function completeSwap({ parent, next }: StagingPlaces, { name, digest }: JournalEntry): void {
  if (digest !== null && !isThere(join(parent, name))) moveIfThere(join(next, name), join(parent, name))
}

/** Whether a file of this name exists; a broken symbolic link counts. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function moveIfThere(from: string, to: string): void {
  if (isThere(from)) renameSync(from, to)
}

/** Writes files into a new folder, flushed before the swap: after a power cut, the content is all old or all new. */
export function writeFiles(folder: string, files: readonly ContentFile[]): void {
  mkdirSync(folder)
  for (const { path, bytes, executable } of files) {
    const file = join(folder, ...path.split('/'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes, { flush: true, flag: 'wx', mode: executable ? 0o777 : 0o666 })
  }
}

function removeEmpty(folder: string, top: string): void {
  for (let at = folder; at.length >= top.length; at = dirname(at)) {
    try {
      rmdirSync(at)
    } catch {
      return
    }
  }
}

/** The journal of a staging folder; empty if it was not sealed, so that nothing was swapped. */
export function readJournal(folder: string): JournalEntry[] {
  try {
    const entries: JournalEntry[] = JSON.parse(readFileSync(join(folder, journalName), 'utf8'))
    return entries.filter(({ name }) => /^[a-z0-9-]+$/.test(name))
  } catch {
    return []
  }
}

/** The staging folders in a folder of skills, with the ids of the processes that created them. */
export function listStagings(parent: string): { folder: string; pid: number }[] {
  const entries = attempt(() => readdirSync(parent, { withFileTypes: true })) ?? []
  return entries.flatMap((entry) => {
    const pid = stagingPattern.exec(entry.name)?.[1]
    return pid !== undefined && entry.isDirectory() ? [{ folder: join(parent, entry.name), pid: Number(pid) }] : []
  })
}
