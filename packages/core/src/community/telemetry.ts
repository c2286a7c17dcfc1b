import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { addMirrored, type MirroredInstalls, type UsedSkill } from '../catalogue/context/use-counts.ts'
import { newId } from '../kernel/ids.ts'
import { writeApart } from '../storage/database.ts'
import { isInList } from '../storage/list-query.ts'
import { takeTurn } from '../storage/meta.ts'
import { parseJson, type Tables } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { Telemetry } from './community-context.ts'
import type { CountingParts } from './download-counters.ts'
import { countDownloads } from './download-days.ts'
import { addInstalls, rollAllTrends, toHour } from './trends.ts'

/** Installs must be visible in the counters a second after the response; adding them takes part of that second. */
const flushMs = 500
/** Delay before a retry after a failure; each failure is reported. */
const retryMs = 10_000

/** Installs by hour and by keys of `toUseKey`, as stored in a journal row. */
type HourlyCounts = Record<string, Record<string, number>>

interface InstallBatch {
  readonly counts: HourlyCounts
  /** Installs to report to an upstream, by skill id. */
  readonly mirrored: Map<string, MirroredInstalls>
  committed: Promise<void>
}

/**
 * Records installs in a journal, the table `install_journal`. All installs that wait for the next commit form one row,
 * so an install costs a part of a small row and survives a crash. No two nodes write the same row, and on PostgreSQL
 * nodes do not wait for each other. Twice a second, one node adds the rows of all nodes to the counters.
 */
export class InstallTelemetry implements Telemetry {
  readonly #parts: CountingParts
  /** Installs of the next commit. */
  #open: InstallBatch | undefined
  /** The previous commit. If it fails, only the callers of its own installs get the error. */
  #last: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #folding: Promise<void> = Promise.resolve()
  #isStopped = false

  constructor(parts: CountingParts) {
    this.#parts = parts
  }

  record(skill: UsedSkill, client?: string): Promise<void> {
    const { clock, watchers } = this.#parts
    const open = (this.#open ??= this.#begin())
    const hour = (open.counts[toHour(clock.now())] ??= {})
    const key = watchers.toKey(skill, client)
    hour[key] = (hour[key] ?? 0) + 1
    if (skill.mirrored) addMirrored(open.mirrored, skill.id, skill.mirrored, 1)
    return open.committed
  }

  flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#fold(() => foldJournal(this.#parts))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    // In a read-only database, pending installs stay in the journal for a process that can write.
    if (!this.#parts.database.isReadOnly) await this.flush()
  }

  #begin(): InstallBatch {
    const batch: InstallBatch = { counts: {}, mirrored: new Map(), committed: Promise.resolve() }
    batch.committed = this.#commit(batch, this.#last)
    this.#last = batch.committed.catch(() => {})
    return batch
  }

  async #commit(batch: InstallBatch, last: Promise<void>): Promise<void> {
    const { database, upstreamQueue } = this.#parts
    const insert = (db: Kysely<Tables>) => {
      // Later installs wait for the next commit.
      this.#open = undefined
      return insertJournalRow(db, batch.counts)
    }
    await last
    try {
      if (batch.mirrored.size === 0) await writeApart(database, insert)
      else {
        await database.writer.write(async (trx) => {
          await insert(trx)
          await upstreamQueue.queueInstalls(trx, batch.mirrored.values())
        })
      }
    } catch (error) {
      // If the writer failed before it took the batch, close the batch here: otherwise later installs would join the
      // batch and get the old error.
      if (this.#open === batch) this.#open = undefined
      throw error
    }
    this.#schedule(flushMs)
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#fold(() => this.#foldInTurn())
    }, delayMs).unref()
  }

  async #foldInTurn(): Promise<void> {
    if (await takeTurn(this.#parts.database, 'installs.counted', turnMs)) await foldJournal(this.#parts)
    else this.#schedule(turnMs / 2)
  }

  /**
   * Runs `work`, which adds the rows of the journal to the counters, after the previous run has ended. Installs of a
   * failed run stay in the journal until a later run succeeds.
   */
  #fold(work: () => Promise<void>): Promise<void> {
    return (this.#folding = this.#folding.then(work).catch((error: unknown) => {
      this.#parts.onError(error)
      this.#schedule(retryMs)
    }))
  }
}

/**
 * Minimum time in milliseconds between two runs of {@link foldJournal} on any nodes. A node that must wait tries again,
 * because the node that ran last may end.
 */
const turnMs = 400

/** The number of counts per transaction. More would block the event loop for too long. */
const countsMax = 64
/** Pause between two transactions, in which other requests are answered. */
const paceMs = 4
/** The number of journal rows that are merged at a time. */
const rowsMax = 1000

/**
 * Adds the rows of the journal to the installs by hour, the trends and the downloads. The rows are in the order of the
 * installs, so they are first grouped by skill to touch fewer pages. A row is deleted in the transaction that counts
 * it, so each install is counted once even after a crash.
 */
async function foldJournal(parts: CountingParts): Promise<void> {
  const { dialect, read, writer } = parts.database
  for (let taken = rowsMax; taken === rowsMax;) {
    // Every start and shutdown checks the journal without the write lock, which is needed only if the journal has rows.
    const waiting = await read.selectFrom('install_journal').select('id').limit(1).executeTakeFirst()
    if (!waiting) return
    const grouped = await writer.write(async (trx) => {
      const rows = await trx.selectFrom('install_journal').selectAll().orderBy('id').limit(rowsMax).execute()
      taken = rows.length
      const ids = rows.map(({ id }) => id)
      await trx
        .deleteFrom('install_journal')
        .where(isInList(dialect, 'id', ids))
        .execute()
      return insertJournalRows(trx, mergeCounts(rows))
    })
    await countJournalRows(parts, grouped)
  }
}

/** Writes rows of one hour each, grouped by neighbouring skill ids, which are stored together in the tables. */
async function insertJournalRows(trx: WriteTransaction, merged: HourlyCounts): Promise<string[]> {
  const ids: string[] = []
  for (const [hour, ofHour] of Object.entries(merged)) {
    const keys = Object.keys(ofHour).toSorted()
    for (let i = 0; i < keys.length; i += countsMax) {
      const part = keys.slice(i, i + countsMax).map((key) => [key, ofHour[key]!] as const)
      ids.push(await insertJournalRow(trx, { [hour]: Object.fromEntries(part) }))
    }
  }
  return ids
}

async function insertJournalRow(db: Kysely<Tables>, counts: HourlyCounts): Promise<string> {
  const row = { id: newId(), counts: JSON.stringify(counts) }
  await db.insertInto('install_journal').values(row).execute()
  return row.id
}

async function countJournalRows(parts: CountingParts, ids: readonly string[]): Promise<void> {
  const waiting = [...ids]
  for (const [i, id] of waiting.entries()) {
    if (i > 0) await sleep(paceMs)
    const left = await parts.database.writer.write((trx) => countJournalRow(parts, trx, id))
    if (left !== undefined) waiting.push(left)
  }
}

/**
 * Counts the installs of a journal row. Returns the id of a new row with the rest if the notifications exceed one
 * transaction.
 */
async function countJournalRow(parts: CountingParts, trx: WriteTransaction, id: string): Promise<string | undefined> {
  const row = await trx.deleteFrom('install_journal').where('id', '=', id).returning('counts').executeTakeFirst()
  // Another process may have counted this row already.
  if (!row) return undefined
  const left = await countInstalls(parts, trx, parseJson(row.counts))
  return Object.keys(left).length === 0 ? undefined : insertJournalRow(trx, left)
}

function mergeCounts(rows: readonly Pick<Tables['install_journal'], 'counts'>[]): HourlyCounts {
  const merged: HourlyCounts = {}
  for (const { counts } of rows) {
    for (const [hour, ofHour] of Object.entries(parseJson<HourlyCounts>(counts))) {
      const sum = (merged[hour] ??= {})
      for (const [key, installs] of Object.entries(ofHour)) sum[key] = (sum[key] ?? 0) + installs
    }
  }
  return merged
}

/**
 * Adds installs to the trends and the download counters. Returns the installs that did not fit into this transaction.
 */
async function countInstalls(parts: CountingParts, trx: WriteTransaction, installs: HourlyCounts) {
  const { dialect } = parts.database
  const at = parts.clock.now()
  const now = await rollAllTrends(trx, toHour(at))
  const rest: HourlyCounts = {}
  for (const [hour, ofHour] of Object.entries(installs)) {
    const uses = new Map(Object.entries(ofHour))
    const { counts, left } = await countDownloads(trx, { dialect, outbox: parts.outbox }, uses, at)
    await addInstalls(trx, dialect, { hour: Number(hour), now, counts })
    if (left.size > 0) rest[hour] = Object.fromEntries(left)
  }
  return rest
}
