import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { RegistryError, type Backup } from '@skillstead/protocol'
import type { Caller } from '@skillstead/core'
import { makePrivateFolder, recordAudit, type Database, type ExtensionParts } from '@skillstead/core/internal'
import { findPartialFiles, removePartialFiles } from './place-file.ts'
import { writeBackup } from './write-backup.ts'

const folderName = 'backups'
/** A backup's name: a timestamp with hyphens for `.` and `:` (invalid on Windows), and `.scheduled` if scheduled. */
const namePattern = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z(\.scheduled)?\.db$/

/** Backup folders into which this process is writing a backup. */
const running = new Set<string>()

/** The backup folder of a registry; undefined for a database that is not a file. */
export function findBackupFolder({ path }: Pick<Database, 'path'>): string | undefined {
  return path === undefined ? undefined : join(dirname(resolve(path)), folderName)
}

/** The backups in a folder, newest first; other files are ignored. */
export async function readBackups(folder: string): Promise<Backup[]> {
  const names = (await readBackupNames(folder)).filter((name) => namePattern.test(name))
  const backups: Backup[] = []
  for (const name of names.toSorted().toReversed()) {
    // Skip a backup that was deleted meanwhile.
    const found = await lstat(join(folder, name)).catch(() => undefined)
    if (!found?.isFile()) continue
    backups.push({ name, bytes: found.size, createdAt: toBackupTime(name), scheduled: name.includes('.scheduled.') })
  }
  return backups
}

/**
 * Copies the registry to its backup folder. Throws `not_implemented` if the database is not a file, `conflict` while
 * another backup is being made.
 */
export async function addBackup(
  { database, clock, closing }: Pick<ExtensionParts, 'database' | 'clock' | 'closing'>,
  scheduled: boolean,
): Promise<Backup> {
  const folder = findBackupFolder(database)
  if (folder === undefined || database.path === undefined) throw toUnsupported(database.dialect)
  if (running.has(folder))
    throw new RegistryError('conflict', 'A backup is already being made. Wait until it is complete.')
  running.add(folder)
  try {
    makePrivateFolder(folder)
    await chmod(folder, 0o700)
    // Removed first, because unfinished copies of a killed process may take all the free space.
    await removePartialFiles(await findPartialFiles(database, clock.now()))
    const name = toBackupName(clock.now(), scheduled)
    const bytes = await writeBackup(database.path, join(folder, name), closing)
    return { name, bytes, createdAt: toBackupTime(name), scheduled }
  } finally {
    running.delete(folder)
  }
}

/** Records in the audit log who made a backup. */
export async function recordBackup(
  { database, clock }: Pick<ExtensionParts, 'database' | 'clock'>,
  caller: Caller,
  { name, bytes }: Backup,
): Promise<void> {
  const subject = basename(database.path!)
  const at = clock.now()
  await database.writer.write((trx) =>
    recordAudit(trx, { caller, action: 'backup.create', subject, at, data: { name, bytes } }),
  )
}

/**
 * Deletes the oldest scheduled backups beyond `retained`, but never the backup `made` and never backups that users
 * made. Scheduled backups with a later name than `made` count as older: the clock was set back after they were made.
 */
export async function dropOldBackups(folder: string, retained: number, made: string): Promise<void> {
  const others = (await readBackups(folder)).filter(({ name, scheduled }) => scheduled && name !== made)
  const isLater = ({ name }: Backup) => name > made
  const newestFirst = [...others.filter((one) => !isLater(one)), ...others.filter(isLater)]
  for (const { name } of newestFirst.slice(Math.max(0, retained - 1))) await rm(join(folder, name), { force: true })
}

/** The error for a database that is not a file and so cannot be copied. */
export function toUnsupported(dialect: Database['dialect']): RegistryError {
  const detail =
    dialect === 'postgres'
      ? "A registry in PostgreSQL is backed up with PostgreSQL's tools, such as pg_dump or a copy of the server's files. `skillstead export` exports it as lines of JSON."
      : 'This registry is only in memory and ends with its process: there is no file to copy.'
  return new RegistryError('not_implemented', detail)
}

async function readBackupNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
}

function toBackupName(epochMs: number, scheduled: boolean): string {
  return `${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '-')}${scheduled ? '.scheduled' : ''}.db`
}

function toBackupTime(name: string): string {
  return name.replace(namePattern, '$1:$2:$3.$4Z')
}
