import type { MirrorContext } from '../run.ts'
import type { Database, StorageContext, WriteTransaction } from '@skillstead/core/internal'
import { enqueueDelivery, selectPublishing } from '../queue/upstream-write.ts'
import { RegistryError, isSkillName, toOwnerName } from '@skillstead/protocol'
import { getUpstream } from '../store/upstreams.ts'
import { findRemoteName, findRename } from './names.ts'
import { getWrite, parseWrite, setPayload, type StoredWrite } from './rows.ts'
import type { ListWritesOptions, OutboxWrite } from '../write-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** A skill at an upstream, whose later writes continue after one of its writes was resolved. */
export type OutboxPlace = Pick<OutboxWrite, 'upstream' | 'subject'>

const limitDefault = 100

/** Lists the writes for upstreams, oldest first. */
export async function listWrites(
  { database }: StorageContext,
  options: ListWritesOptions = {},
): Promise<OutboxWrite[]> {
  const { upstream, states = ['pending', 'conflict'], limit = limitDefault, offset = 0 } = options
  const rows = await selectWithUser(database)
    .where('upstream_writes.state', 'in', states)
    .$if(upstream !== undefined, (select) => select.where('upstream_writes.upstream', '=', upstream!))
    .orderBy('position')
    .orderBy('upstream_writes.id')
    .limit(limit)
    .offset(offset)
    .execute()
  return Promise.all(rows.map(({ username, ...row }) => toOutboxWrite(database.read, parseWrite(row), username)))
}

/** The number of an upstream's writes in some states. */
export async function countWritesOf(
  { database }: StorageContext,
  upstream: string,
  states: readonly StoredWrite['state'][],
): Promise<number> {
  const { count } = await withUpstreams(database.read)
    .selectFrom('upstream_writes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('upstream', '=', upstream)
    .where('state', 'in', states)
    .executeTakeFirstOrThrow()
  return count
}

/** Returns a write of an upstream in its public form. Throws `not_found`, also for a write of another upstream. */
export async function getWriteOf({ database }: StorageContext, upstream: string, id: string): Promise<OutboxWrite> {
  const row = await selectWithUser(database)
    .where('upstream_writes.id', '=', id)
    .where('upstream_writes.upstream', '=', upstream)
    .executeTakeFirst()
  if (!row) throw new RegistryError('not_found', `There is no write '${id}' for '${upstream}'.`)
  const { username, ...write } = row
  return toOutboxWrite(database.read, parseWrite(write), username)
}

/** Selects writes with the names of the users who caused them. */
function selectWithUser({ read }: Database) {
  return withUpstreams(read)
    .selectFrom('upstream_writes')
    .leftJoin('users', 'users.id', 'upstream_writes.user_id')
    .selectAll('upstream_writes')
    .select('users.username')
}

/** Sends a write again, unchanged, also one in conflict. Throws `not_found`, and `conflict` for a completed write. */
export async function retryWrite(context: MirrorContext, id: string): Promise<OutboxPlace> {
  return resolveWrite(context, id, async (trx, write) => {
    if (write.state === 'conflict') await reopenWrite(trx, write, {})
  })
}

/** Drops a write, so that its skill's later writes continue. Throws `not_found`, and `conflict` if completed. */
export async function dropWrite(context: MirrorContext, id: string): Promise<OutboxPlace> {
  return resolveWrite(context, id, async (trx, { id: dropped }) => {
    const change = { state: 'dropped', ended_at: context.clock.now() } as const
    await withUpstreams(trx).updateTable('upstream_writes').set(change).where('id', '=', dropped).execute()
  })
}

/**
 * Publishes or forks a skill under another name at the upstream; later writes of the skill use this name, too. Throws
 * `not_found`, `invalid_request`, `name_taken` if another skill has the name there, and `conflict` for a write that is
 * completed or may have arrived under the old name.
 */
export async function renameWrite(context: MirrorContext, id: string, newName: string): Promise<OutboxPlace> {
  if (!isSkillName(newName)) {
    throw new RegistryError(
      'invalid_request',
      `'${newName}' is not a valid skill name. Use a short name like pdf-tools, without an owner.`,
    )
  }
  return resolveWrite(context, id, async (trx, write) => {
    if (write.kind !== 'publish' && write.kind !== 'fork') {
      throw new RegistryError(
        'invalid_request',
        'Only publishing and forking can use another name. Retry or drop this write.',
      )
    }
    if (write.state === 'pending' && write.attempts > 0) {
      const detail = 'The write may have arrived without a response. Wait for the next attempt, or drop it.'
      throw new RegistryError('conflict', detail)
    }
    await refuseTakenName(trx, write, newName)
    await reopenWrite(trx, write, { renamedTo: newName })
  })
}

/** Throws `name_taken` if the user has another skill of the new name: the versions of both would be mixed. */
async function refuseTakenName(
  trx: WriteTransaction,
  { upstream, subject }: StoredWrite,
  newName: string,
): Promise<void> {
  const there = await findRemoteName(trx, upstream, subject)
  const wanted = `${toOwnerName(there)}/${newName}`
  const mirrored = await trx
    .selectFrom('skills')
    .select('full_name')
    .where('full_name', '=', wanted)
    .where('origin_upstream', '=', upstream)
    .executeTakeFirst()
  const others = await selectPublishing(trx, upstream)
    .select('subject')
    .distinct()
    .where('subject', '!=', subject)
    .where((eb) => eb.or([eb('subject', 'like', `%/${newName}`), eb('payload', 'like', `%"renamedTo":"${newName}"%`)]))
    .execute()
  const names = await Promise.all(others.map((other) => findRemoteName(trx, upstream, other.subject)))
  if (!mirrored && !names.includes(wanted)) return
  throw new RegistryError('name_taken', `${wanted} is another skill at ${upstream}. Choose a name that is free there.`)
}

async function resolveWrite(
  context: MirrorContext,
  id: string,
  change: (trx: WriteTransaction, write: StoredWrite) => Promise<void>,
): Promise<OutboxPlace> {
  return context.database.writer.write(async (trx) => {
    const write = await getWrite(trx, id)
    if (write.state === 'delivered' || write.state === 'dropped') {
      throw new RegistryError('conflict', `This write is already ${write.state}, which is final.`)
    }
    await change(trx, write)
    const { location } = await getUpstream(trx, write.upstream)
    const { upstream, subject } = write
    await enqueueDelivery(trx, context, { upstream: { name: upstream, location }, subject })
    return { upstream, subject }
  })
}

/** Makes a write pending with a new idempotency key. With the old key, the upstream would repeat its refusal. */
async function reopenWrite(trx: WriteTransaction, write: StoredWrite, more: { renamedTo?: string }): Promise<void> {
  const payload = { ...write.payload, ...more, round: (write.payload.round ?? 0) + 1 }
  await setPayload(trx, write.id, payload)
  await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set({ state: 'pending', error: null })
    .where('id', '=', write.id)
    .execute()
}

/** Converts a write to its public form. */
async function toOutboxWrite(db: Database['read'], write: StoredWrite, user: string | null): Promise<OutboxWrite> {
  const { id, upstream, subject, kind, state, attempts, error, payload } = write
  const version = 'version' in payload ? (payload.version ?? null) : null
  const there = await findRemoteName(db, upstream, subject)
  const renamedTo = await findRename(db, upstream, subject)
  return {
    id,
    upstream,
    subject,
    kind,
    version,
    user,
    state,
    attempts,
    subjectThere: renamedTo === undefined ? there : `${toOwnerName(there)}/${renamedTo}`,
    problem: error === null ? null : JSON.parse(error),
    createdAt: write.created_at,
    endedAt: write.ended_at,
  }
}
