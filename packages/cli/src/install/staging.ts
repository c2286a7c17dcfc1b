import { randomBytes } from 'node:crypto'
import { lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ContentFile } from '@skillstead/client/verify'
import { readFolderState } from './folder-state.ts'

/** A skill's folder that is to be replaced, or removed where there is no `digest`. */
export interface FolderChange {
  readonly path: string
  readonly target: string
  readonly fullName: string
  readonly digest?: string
  /** What was there when this was decided, null for nothing; where it is not said, whatever is there may go. */
  readonly seen?: string | null | undefined
  /** What is to be in it. */
  readonly readFiles?: () => Promise<readonly ContentFile[]>
}

/** What a staging folder is for, so that whoever finds it after a crash can finish the change or take it back. */
export interface JournalEntry {
  readonly name: string
  readonly target: string
  readonly fullName: string
  readonly digest: string | null
}

/** A folder beside the skills in which a change is made ready. Not in the skills' way: its name begins with a dot. */
export interface Staging {
  /** Writes what is to come. */
  add(change: FolderChange): Promise<void>
  /** Says on disk what is about to happen. */
  seal(): void
  /** Puts each new folder in the place of the old one. */
  swap(): void
  /** Throws where what was swapped out is not what was seen before: somebody wrote there meanwhile. */
  check(): Promise<void>
  /** Takes back what was swapped; the folders of which the former content could not be put back. */
  undo(): string[]
  /** Deletes itself, and the folders that were made for it and hold nothing. */
  close(): void
}

const stagingPattern = /^\.skillstead-(\d+)-[0-9a-f]{8}$/
const journalName = 'journal.json'

/** Makes a staging folder in a folder of skills, which it makes too. */
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

/** The folder of the skills, and the two in which what is to come and what was there lie. */
export interface StagingPlaces {
  readonly parent: string
  readonly next: string
  readonly former: string
}

/** Puts the former folder back in the place of the new one; where nothing was swapped, nothing happens. */
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
  if (state.kind === 'missing' ? before === null : state.kind === 'version' && state.digest === before) return
  throw new Error(`Somebody wrote into ${target} just now, so it stays as it is. Nothing was changed; try again.`)
}

/** Puts the new folder in its place where the old one is already out of it. */
export function carryOn({ parent, next }: StagingPlaces, { name, digest }: JournalEntry): void {
  if (digest !== null && !isThere(join(parent, name))) moveIfThere(join(next, name), join(parent, name))
}

/** Whether anything has this name; a link that leads nowhere is something. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function moveIfThere(from: string, to: string): void {
  if (isThere(from)) renameSync(from, to)
}

/** Every byte is on the disk before the folder takes the place of the other, so that a power cut leaves one of both. */
function writeFiles(folder: string, files: readonly ContentFile[]): void {
  mkdirSync(folder)
  for (const { path, bytes } of files) {
    const file = join(folder, ...path.split('/'))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes, { flush: true, flag: 'wx' })
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

/** The journal of a staging folder; none where it was not sealed, and so nothing was swapped. */
export function readJournal(folder: string): JournalEntry[] {
  try {
    const entries = JSON.parse(readFileSync(join(folder, journalName), 'utf8')) as JournalEntry[]
    return entries.filter(({ name }) => /^[a-z0-9-]+$/.test(name))
  } catch {
    return []
  }
}

/** The staging folders in a folder of skills, with the processes that made them. */
export function listStagings(parent: string): { folder: string; pid: number }[] {
  let entries
  try {
    entries = readdirSync(parent, { withFileTypes: true })
  } catch {
    return []
  }
  return entries.flatMap((entry) => {
    const pid = stagingPattern.exec(entry.name)?.[1]
    return pid !== undefined && entry.isDirectory() ? [{ folder: join(parent, entry.name), pid: Number(pid) }] : []
  })
}
