import { chmod, mkdir, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { RegistryError, type Backup } from '@skillstead/protocol'
import { recordAudit } from '../audit.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import { partialSuffix, writeBackup } from '../storage/backup.ts'
import type { Database } from '../storage/database.ts'

const folderName = 'backups'
/** A time in which `:` and `.` are hyphens, as not every file system takes them. */
const namePattern = /^(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)-(\d{3})Z\.db$/
/** What a process that was killed left behind is older than any copy takes. */
const partialKeptMs = 24 * 60 * 60 * 1000

/** Files that are being copied by this process. */
const running = new Set<string>()

/** GET /operator/backups: newest first. */
export async function listBackups({ database }: Context) {
  const folder = findFolder(database)
  if (folder === undefined) return { backups: [], total: 0, folder: null }
  const names = (await readNames(folder)).filter((name) => namePattern.test(name))
  const backups: Backup[] = []
  for (const name of names.toSorted().toReversed()) {
    // One that was deleted meanwhile is not listed.
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found?.isFile()) backups.push({ name, bytes: found.size, createdAt: toCreatedAt(name) })
  }
  return { backups, total: backups.length, folder }
}

/**
 * POST /operator/backups: a copy of the registry beside its file, in `backups`. Throws `not_implemented` where there is
 * no file, `conflict` while another copy is made.
 */
export async function createBackup(context: Context, _input: object, caller: Caller) {
  const { database, clock, closing } = context
  const folder = findFolder(database)
  if (folder === undefined || database.path === undefined) throw toUnsupported(database)
  if (running.has(folder)) throw new RegistryError('conflict', 'A backup is being made already; wait until it is done.')
  running.add(folder)
  try {
    await mkdir(folder, { recursive: true })
    // Keys' hashes and private skills lie there.
    await chmod(folder, 0o700)
    await sweepPartial(folder, clock.now())
    const name = toName(clock.now())
    const bytes = await writeBackup(database.path, join(folder, name), closing)
    const subject = basename(database.path)
    await database.writer.write((trx) =>
      recordAudit(trx, { caller, action: 'backup.create', subject, at: clock.now(), data: { name, bytes } }),
    )
    return { name, bytes, createdAt: toCreatedAt(name), verified: true as const }
  } finally {
    running.delete(folder)
  }
}

/** Undefined for a database that is no file. */
function findFolder({ path }: Database): string | undefined {
  return path === undefined ? undefined : join(dirname(resolve(path)), folderName)
}

function toUnsupported({ dialect }: Database): RegistryError {
  const detail =
    dialect === 'postgres'
      ? "This registry is in PostgreSQL, which has tools of its own for that: back it up with pg_dump, or by copying its server's files."
      : 'This registry is in memory alone, and ends with its process: there is no file to copy.'
  return new RegistryError('not_implemented', detail)
}

async function readNames(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}

async function sweepPartial(folder: string, now: number): Promise<void> {
  for (const name of await readNames(folder)) {
    if (!name.includes(partialSuffix)) continue
    const found = await stat(join(folder, name)).catch(() => undefined)
    if (found && found.mtimeMs < now - partialKeptMs) await rm(join(folder, name), { force: true })
  }
}

function toName(epochMs: number): string {
  return `${new Date(epochMs).toISOString().replaceAll(/[:.]/g, '-')}.db`
}

function toCreatedAt(name: string): string {
  return name.replace(namePattern, '$1:$2:$3.$4Z')
}
