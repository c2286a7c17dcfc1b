import type { Database, StorageContext } from '@skillstead/core/internal'
import type { WriteTransaction } from '@skillstead/core/internal'
import { type UpstreamWriteRow, withUpstreams } from '../tables/mirror-tables.ts'
import type { WriteKind, WritePayloads } from '../queue/upstream-write.ts'
import { RegistryError } from '@skillstead/protocol'
import type { WriteProblem } from '../write-types.ts'

type Read = Database['read']

/** A write as it is stored, parsed. */
export type StoredWrite = {
  [K in WriteKind]: Omit<UpstreamWriteRow, 'kind' | 'payload'> & {
    readonly kind: K
    readonly payload: WritePayloads[K]
  }
}[WriteKind]

/** What comes next for a skill at an upstream: also where it is stuck, since what is behind it waits. */
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

/** Throws `not_found`. */
export async function getWrite(db: Read, id: string): Promise<StoredWrite> {
  const row = await withUpstreams(db).selectFrom('upstream_writes').selectAll().where('id', '=', id).executeTakeFirst()
  if (row) return parseWrite(row)
  throw new RegistryError('not_found', `There is no write '${id}'; \`mirror outbox list\` shows those there are.`)
}

/** The skills that something waits for, at one upstream or at all. */
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
 * Marks the beginning of an attempt: from then on it may have arrived, whatever is heard of it. Returns the write as it
 * is now, since more installs, or another name, may have come to it until here; undefined where it was settled meanwhile.
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

/** What arrived has arrived, even where somebody dropped it meanwhile. */
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

/** Keeps why it did not arrive; one that cannot stays where it is until somebody settles it. */
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

const keptMs = 30 * 24 * 60 * 60 * 1000

/** Forgets what ended a month ago. What was published is kept: under which name it went decides where the next goes. */
export async function sweepOpinions({ database, clock }: StorageContext): Promise<void> {
  await database.writer.write(async (trx) => {
    await withUpstreams(trx)
      .deleteFrom('upstream_writes')
      .where('state', 'in', ['delivered', 'dropped'])
      .where('kind', 'in', ['track', 'star', 'review', 'agent-review'])
      .where('ended_at', '<', clock.now() - keptMs)
      .execute()
  })
}

export function parseWrite(row: UpstreamWriteRow): StoredWrite {
  return { ...row, payload: JSON.parse(row.payload) as never } as StoredWrite
}
