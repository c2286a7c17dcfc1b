import { parseJson, type Tables } from '../storage/tables.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { addMirrored, type MirroredInstalls, type UsedSkill } from '../catalogue/context/use-counts.ts'
import { newId } from '../kernel/ids.ts'
import type { Dialect } from '../storage/dialect.ts'
import { isInList } from '../storage/list-query.ts'
import { undo, type WriteTransaction } from '../storage/writer.ts'
import type { Telemetry } from './community-context.ts'
import type { CountingParts } from './download-counters.ts'
import { countDownloads } from './download-days.ts'
import { addInstalls, rollAllTrends, toHour } from './trends.ts'

/** Counts must be visible a second after the response; adding them to the counters takes part of that second. */
const flushMs = 500
/** Delay after a failure; each failure is reported. */
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
 * All installs that wait for the next commit form one row of the journal, so an install costs a part of a small row and
 * survives a crash. This process adds the rows to the counters in batches; rows that remain when the process ends are
 * counted by the next process.
 */
export class InstallTelemetry implements Telemetry {
  readonly #parts: CountingParts
  /** Installs of the next commit. */
  #open: InstallBatch | undefined
  #timer: NodeJS.Timeout | undefined
  #folding: Promise<void> | undefined
  #isStopped = false
  /** Whether a failed fold left rows in the journal; the next fold takes all rows. */
  #isBehind = false
  /** Installs that are committed but not yet counted. */
  #recorded: { ids: string[]; counts: HourlyCounts } = { ids: [], counts: {} }

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
    return this.#fold(() => this.#foldEverything())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    // Pending installs stay in the journal for a process that can write.
    if (!this.#parts.database.isReadOnly) await this.flush()
  }

  #begin(): InstallBatch {
    const batch: InstallBatch = { counts: {}, mirrored: new Map(), committed: Promise.resolve() }
    batch.committed = this.#commit(batch)
    return batch
  }

  async #commit(batch: InstallBatch): Promise<void> {
    const { database, upstreamQueue } = this.#parts
    const id = newId()
    try {
      await database.writer.write(async (trx) => {
        // Later installs wait for the next commit.
        this.#open = undefined
        const row = { id, counts: JSON.stringify(batch.counts) }
        await trx.insertInto('install_journal').values(row).execute()
        if (batch.mirrored.size > 0) await upstreamQueue.queueInstalls(trx, batch.mirrored.values())
      })
    } catch (error) {
      // If the writer failed before it took the batch, close the batch here: otherwise its next caller would get the
      // old error.
      if (this.#open === batch) this.#open = undefined
      throw error
    }
    this.#recorded.ids.push(id)
    addCounts(this.#recorded.counts, batch.counts)
    this.#schedule(flushMs)
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return
    this.#timer ??= setTimeout(() => void this.#fold(() => this.#foldOwn()), delayMs)
    this.#timer.unref()
  }

  /** Folds run one after another. Installs of a failed fold stay in the journal until a later one succeeds. */
  #fold(work: () => Promise<void>): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const running = (this.#folding ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => {
        this.#isBehind = true
        this.#parts.onError(error)
        this.#schedule(retryMs)
      })
      .finally(() => {
        if (this.#folding === running) this.#folding = undefined
      })
    return (this.#folding = running)
  }

  async #foldOwn(): Promise<void> {
    const own = this.#recorded
    this.#recorded = { ids: [], counts: {} }
    if (own.ids.length > 0) await foldRecorded(this.#parts, own)
    if (this.#isBehind) await this.#foldAll()
  }

  async #foldAll(): Promise<void> {
    await foldJournal(this.#parts)
    this.#isBehind = false
  }

  async #foldEverything(): Promise<void> {
    await this.#foldOwn()
    await this.#foldAll()
  }
}

/** The number of counts per transaction. More would block the event loop for too long. */
const countsMax = 64
/** Pause between two transactions, in which other requests are answered. */
const paceMs = 4
/** The number of journal rows that are merged at a time. */
const rowsMax = 1000

/** Journal rows that this process wrote, with their total counts. */
interface RecordedInstalls {
  readonly ids: readonly string[]
  readonly counts: HourlyCounts
}

/**
 * Adds recorded installs to the hourly buckets, trends and downloads. Journal rows are in the order of the installs, so
 * they are first grouped by skill to touch fewer pages. A row and its counts change in one transaction, so each install
 * is counted once even after a crash.
 */
async function foldRecorded(parts: CountingParts, recorded: RecordedInstalls): Promise<void> {
  const { database } = parts
  const rows = await database.writer.write(async (trx) => {
    const removed = await removeJournalRows(trx, database.dialect, recorded.ids)
    if (removed === recorded.ids.length) return insertJournalRows(trx, recorded.counts)
    // Another process took some of the rows, so this process does not know which are left.
    undo(trx)
    return undefined
  })
  if (rows) await countJournalRows(parts, rows)
  else await foldJournal(parts, recorded.ids)
}

/**
 * As {@link foldRecorded} for the remaining rows of `ids`, or for the whole journal, which may have rows of processes
 * that ended before counting them.
 */
async function foldJournal(parts: CountingParts, ids?: readonly string[]): Promise<void> {
  const { database } = parts
  const { dialect } = database
  for (;;) {
    // Every start and shutdown checks the journal; only if it has rows is the write lock needed.
    const waiting = await database.read.selectFrom('install_journal').select('id').limit(1).executeTakeFirst()
    if (!waiting) return
    const rows = await database.writer.write(async (trx) => {
      const taken = await trx
        .selectFrom('install_journal')
        .selectAll()
        .$if(ids !== undefined, (select) => select.where(isInList(dialect, 'id', ids!)))
        .orderBy('id')
        .limit(rowsMax)
        .execute()
      await removeJournalRows(
        trx,
        dialect,
        taken.map(({ id }) => id),
      )
      return insertJournalRows(trx, mergeCounts(taken))
    })
    if (rows.length === 0) return
    await countJournalRows(parts, rows)
  }
}

async function removeJournalRows(trx: WriteTransaction, dialect: Dialect, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await trx
    .deleteFrom('install_journal')
    .where(isInList(dialect, 'id', ids))
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
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

async function insertJournalRow(trx: WriteTransaction, counts: HourlyCounts): Promise<string> {
  const row = { id: newId(), counts: JSON.stringify(counts) }
  await trx.insertInto('install_journal').values(row).execute()
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
  for (const { counts } of rows) addCounts(merged, parseJson(counts))
  return merged
}

/** Adds counts to others, in place. */
function addCounts(to: HourlyCounts, added: HourlyCounts): void {
  for (const [hour, ofHour] of Object.entries(added)) {
    const sum = (to[hour] ??= {})
    for (const [key, installs] of Object.entries(ofHour)) sum[key] = (sum[key] ?? 0) + installs
  }
}

/** Counts some installs. Returns those that the transaction had no room for. */
async function countInstalls(
  parts: CountingParts,
  trx: WriteTransaction,
  installs: HourlyCounts,
): Promise<HourlyCounts> {
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
