import { readErrorCode, toErrorText } from '@skillstead/protocol'
import { basename } from 'node:path'
import { sql } from 'kysely'
import { type Clock, systemCaller, systemClock } from '@skillstead/core'
import {
  type Database,
  openDatabase,
  recordAudit,
  type SchemaExtension,
  startEpoch,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { copyRegistry } from '../backup/write-backup.ts'
import { preparePlace } from './no-registry.ts'
import { readSealedKeys, type SealedKeys } from './sealed.ts'
import { findRowProblem } from './verify-rows.ts'

/** Options of `restoreRegistry`. */
export interface RestoreOptions {
  /** The extensions that the registry is opened with; must include those with tables in the backup. Default: none. */
  readonly extensions?: readonly SchemaExtension[]
  /** Aborts the restore and deletes the copy. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /** The secret key that sealed the API keys for upstreams; the restore reports whether this key opens them. */
  readonly secretKey?: Uint8Array
}

/** The restored registry. */
export interface RestoreSummary {
  readonly origin: string
  /** The new epoch. */
  readonly epoch: number
  /** The number of log entries. */
  readonly log: number
  readonly sealed: SealedKeys
}

/**
 * Creates a registry file from a backup. A copy of the backup is read completely and migrated, its contents are checked
 * against their digests and the log against its tree, and only then the copy gets its name. Starts a new epoch, so that
 * mirrors notice that the registry went back in time. Sessions end, and leased jobs become due again.
 *
 * Throws if the backup is damaged or of a newer program, and `conflict` if there is already a registry.
 *
 * @example
 * await restoreRegistry('/backups/skills.db', '/srv/skills/skillstead.db')
 */
export async function restoreRegistry(
  backup: string,
  path: string,
  { signal, clock = systemClock, secretKey, extensions = [] }: RestoreOptions = {},
): Promise<RestoreSummary> {
  preparePlace(path)
  let summary: RestoreSummary | undefined
  const finish = async (partial: string) => {
    const database = await openDatabase({ path: partial, extensions })
    try {
      const problem = await findBackupProblem(database)
      if (problem) throw new Error(`The backup is damaged: ${problem} Nothing was restored.`)
      signal?.throwIfAborted()
      summary = await goOn(database, { name: basename(backup), now: clock.now(), secretKey, extensions })
    } finally {
      await database.close()
    }
  }
  try {
    await copyRegistry(backup, path, { signal, finish })
  } catch (error) {
    throw toUnreadable(error)
  }
  return summary!
}

/** Replaces an error of SQLite, because its code would be reported as a problem of a registry in use. */
function toUnreadable(error: unknown): unknown {
  if (!/^SQLITE_(NOTADB|CORRUPT|CANTOPEN)/.test(String(readErrorCode(error)))) return error
  return new Error(`The backup cannot be read: ${toErrorText(error)}. Nothing was restored.`)
}

async function findBackupProblem(database: Database): Promise<string | undefined> {
  const { rows } = await sql<{ table: string }>`pragma foreign_key_check`.execute(database.read)
  if (rows[0]) return `A row of ${rows[0].table} refers to a missing row.`
  return findRowProblem(database.read, 'sqlite')
}

interface Restored {
  readonly name: string
  readonly now: number
  readonly secretKey: Uint8Array | undefined
  readonly extensions: readonly SchemaExtension[]
}

async function goOn(database: Database, { name, now, secretKey, extensions }: Restored): Promise<RestoreSummary> {
  return database.writer.write(async (trx) => {
    const meta = await trx.selectFrom('meta').selectAll().where('key', 'in', ['origin', 'epoch']).execute()
    const { origin, epoch } = Object.fromEntries(meta.map(({ key, value }) => [key, value]))
    if (origin === undefined) throw new Error('The backup is empty: its registry had never been started.')
    await releaseOldState(trx, extensions)
    const begun = await startEpoch(trx, Number(epoch), now)
    const data = { name, epoch: begun }
    await recordAudit(trx, { caller: systemCaller, action: 'backup.restore', subject: '', at: now, data })
    const { log_seq: log } = await trx.selectFrom('heads').select('log_seq').executeTakeFirstOrThrow()
    return { origin, epoch: begun, log, sealed: await readSealedKeys(trx, extensions, secretKey) }
  })
}

/** Releases the leases of former processes and ends all sessions and sign-ins: an old copy must not sign anyone in. */
async function releaseOldState(trx: WriteTransaction, extensions: readonly SchemaExtension[]): Promise<void> {
  for (const table of ['sessions', 'used_states', 'sign_ins', 'sign_in_guesses', 'uploads'] as const)
    await trx.deleteFrom(table).execute()
  await trx.deleteFrom('idempotent_answers').where('status', '=', 0).execute()
  await trx
    .updateTable('outbox')
    .set({ lease: null, claimable_at: sql<number>`due_at` })
    .where('lease', 'is not', null)
    .execute()
  for (const [table, { instead }] of extensions.flatMap(({ tables }) => Object.entries(tables))) {
    if (!instead) continue
    const changes = Object.entries(instead).map(([column, value]) => sql`${sql.ref(column)} = ${sql.raw(value)}`)
    await sql`update ${sql.table(table)} set ${sql.join(changes)}`.execute(trx)
  }
}
