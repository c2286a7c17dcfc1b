import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { RegistryError, type Backup } from '@skillstead/protocol'
import { recordAudit } from '../log/audit.ts'
import type { Caller } from '../kernel/caller.ts'
import type { OperatorContext } from './operator-context.ts'
import { findPartialFiles, removePartialFiles } from './partial-files.ts'
import { makePrivateFolder } from '../storage/make-folder.ts'
import { writeBackup } from '../storage/backup.ts'
import type { Database } from '../storage/database.ts'

const folderName = 'backups'
/** A time in which `:` and `.` are hyphens, as not every file system takes them; and whether a schedule made it. */
const namePattern = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z(\.scheduled)?\.db$/

/** Folders that this process copies into. */
const running = new Set<string>()

/** Where the backups of a registry are; undefined for a database that is no file. */
export function findFolder({ path }: Pick<Database, 'path'>): string | undefined {
  return path === undefined ? undefined : join(dirname(resolve(path)), folderName)
}

/** The backups in a folder, newest first; nothing else that lies there. */
export async function readBackups(folder: string): Promise<Backup[]> {
  const names = (await readNames(folder)).filter((name) => namePattern.test(name))
  const backups: Backup[] = []
  for (const name of names.toSorted().toReversed()) {
    // One that was deleted meanwhile is not listed.
    const found = await lstat(join(folder, name)).catch(() => undefined)
    if (!found?.isFile()) continue
    backups.push({ name, bytes: found.size, createdAt: toCreatedAt(name), scheduled: name.includes('.scheduled.') })
  }
  return backups
}

/**
 * Copies the registry into the folder of its backups. Throws `not_implemented` where there is no file, `conflict` while
 * another copy is made.
 */
export async function addBackup(
  { database, clock, closing }: Pick<OperatorContext, 'database' | 'clock' | 'closing'>,
  scheduled: boolean,
): Promise<Backup> {
  const folder = findFolder(database)
  if (folder === undefined || database.path === undefined) throw toUnsupported(database.dialect)
  if (running.has(folder)) throw new RegistryError('conflict', 'A backup is being made already; wait until it is done.')
  running.add(folder)
  try {
    makePrivateFolder(folder)
    await chmod(folder, 0o700)
    // What a process that was killed left behind may be all the room that there is.
    await removePartialFiles(await findPartialFiles(database, clock.now()))
    const name = toName(clock.now(), scheduled)
    const bytes = await writeBackup(database.path, join(folder, name), closing)
    return { name, bytes, createdAt: toCreatedAt(name), scheduled }
  } finally {
    running.delete(folder)
  }
}

/** Writes into the audit who made a backup. */
export async function recordBackup(
  { database, clock }: Pick<OperatorContext, 'database' | 'clock'>,
  caller: Caller,
  { name, bytes }: Backup,
): Promise<void> {
  const subject = basename(database.path!)
  const at = clock.now()
  await database.writer.write((trx) =>
    recordAudit(trx, { caller, action: 'backup.create', subject, at, data: { name, bytes } }),
  )
}

/** Deletes the oldest that a schedule made beyond so many, never the one just made, and nothing that others made. */
export async function dropOldBackups(folder: string, kept: number, made: string): Promise<void> {
  const others = (await readBackups(folder)).filter(({ name, scheduled }) => scheduled && name !== made)
  for (const { name } of others.slice(Math.max(0, kept - 1))) await rm(join(folder, name), { force: true })
}

/** The error where there is no file to copy. */
export function toUnsupported(dialect: Database['dialect']): RegistryError {
  const detail =
    dialect === 'postgres'
      ? "This registry is in PostgreSQL, which has tools of its own for that: back it up with pg_dump, or by copying its server's files; `skillstead export` writes it as lines of JSON."
      : 'This registry is in memory alone, and ends with its process: there is no file to copy.'
  return new RegistryError('not_implemented', detail)
}

async function readNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}

function toName(epochMs: number, scheduled: boolean): string {
  return `${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '-')}${scheduled ? '.scheduled' : ''}.db`
}

function toCreatedAt(name: string): string {
  return name.replace(namePattern, '$1:$2:$3.$4Z')
}
