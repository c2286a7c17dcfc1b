import type { Database, StorageContext, WriteTransaction } from '@skillstead/core/internal'
import { type UpstreamWriteRow, withUpstreams } from '../tables/mirror-tables.ts'
import type { WriteKind, WritePayloads } from '../queue/upstream-write.ts'
import { RegistryError } from '@skillstead/protocol'
import type { WriteProblem } from '../write-types.ts'

type Read = Database['read']

/**
 * A parsed row of the table `upstream_writes`: a write that repeats a local change (a published version, a star, a
 * review, an install) at an upstream.
 */
export type StoredWrite = {
  [K in WriteKind]: Omit<UpstreamWriteRow, 'kind' | 'payload'> & {
    readonly kind: K
    readonly payload: WritePayloads[K]
  }
}[WriteKind]

/**
 * The first unfinished write of a skill at an upstream. Later writes of the skill wait for it. It may be in conflict.
 */
export async function findNext(db: Read, upstream: string, subject: string): Promise<StoredWrite | undefined> {
  const rows = await withUpstreams(db)
    .selectFrom('upstream_writes')
    .selectAll()
    .where('upstream', '=', upstream)
    .where('state', 'in', ['pending', 'conflict'])
    .where('subject', '=', subject)
    .orderBy('position')
    .orderBy('id')
    .limit(1)
    .execute()
  return rows.map(parseWrite)[0]
}

/** The write with this id. Throws `not_found`. */
export async function getWrite(db: Read, id: string): Promise<StoredWrite> {
  const row = await withUpstreams(db).selectFrom('upstream_writes').selectAll().where('id', '=', id).executeTakeFirst()
  if (row) return parseWrite(row)
  throw new RegistryError('not_found', `There is no write '${id}'. \`mirror outbox list\` shows all writes.`)
}

/** The skills with pending writes, at one upstream or at all upstreams. */
export async function listSubjects(db: Read, upstream?: string): Promise<{ upstream: string; subject: string }[]> {
  return withUpstreams(db)
    .selectFrom('upstream_writes')
    .select(['upstream', 'subject'])
    .where('state', '=', 'pending')
    .$if(upstream !== undefined, (select) => select.where('upstream', '=', upstream!))
    .groupBy(['upstream', 'subject'])
    .orderBy((eb) => eb.fn.min('position'))
    .execute()
}

/**
 * Records the start of an attempt, because from now on the write may have arrived, even without a response. Returns the
 * current row, to which installs or a new name may have been added meanwhile; undefined if the write was resolved
 * meanwhile.
 */
export async function beginWrite(trx: WriteTransaction, { id }: StoredWrite): Promise<StoredWrite | undefined> {
  const { numUpdatedRows } = await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .executeTakeFirst()
  return numUpdatedRows === 1n ? getWrite(trx, id) : undefined
}

/** Marks a write as delivered, even if it was dropped meanwhile. */
export async function endWrite(
  trx: WriteTransaction,
  { id }: StoredWrite,
  { note, at }: { note: WriteProblem | undefined; at: number },
): Promise<void> {
  const error = note ? JSON.stringify(note) : null
  await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set({ state: 'delivered', ended_at: at, error })
    .where('id', '=', id)
    .execute()
}

/**
 * Stores why a write failed. A write in conflict blocks the later writes of its skill until a user or the operator
 * resolves the conflict.
 */
export async function markProblem(
  trx: WriteTransaction,
  { id }: StoredWrite,
  problem: WriteProblem,
  state: 'pending' | 'conflict',
): Promise<void> {
  await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set({ state, error: JSON.stringify(problem) })
    .where('id', '=', id)
    .where('state', '=', 'pending')
    .execute()
}

export async function setPayload(trx: WriteTransaction, id: string, payload: StoredWrite['payload']): Promise<void> {
  await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set({ payload: JSON.stringify(payload) })
    .where('id', '=', id)
    .execute()
}

const retentionMs = 30 * 24 * 60 * 60 * 1000

/**
 * Deletes stars, reviews and installs that were sent or dropped over a month ago. Published versions stay, because
 * their name at the upstream decides under which name the next version is sent.
 */
export async function deleteOldOpinions({ database, clock }: StorageContext): Promise<void> {
  await database.writer.write(async (trx) => {
    await withUpstreams(trx)
      .deleteFrom('upstream_writes')
      .where('state', 'in', ['delivered', 'dropped'])
      .where('kind', 'in', ['track', 'star', 'review', 'agent-review'])
      .where('ended_at', '<', clock.now() - retentionMs)
      .execute()
  })
}

export function parseWrite(row: UpstreamWriteRow): StoredWrite {
  return { ...row, payload: JSON.parse(row.payload) }
}
