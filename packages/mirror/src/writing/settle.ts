import type { MirrorContext } from '../run.ts'
import type { Database, StorageContext } from '@skillstead/core/internal'
import { enqueueDelivery } from '../queue/upstream-write.ts'
import type { WriteTransaction } from '@skillstead/core/internal'
import { RegistryError, isSkillName } from '@skillstead/protocol'
import { getUpstream } from '../store/upstreams.ts'
import { findNameThere, findRename } from './names.ts'
import { getWrite, parseWrite, setPayload, type StoredWrite } from './rows.ts'
import type { ListWritesOptions, OutboxWrite, WriteProblem } from '../write-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** The skill whose writes go on after one of them was settled. */
export type OutboxPlace = Pick<OutboxWrite, 'upstream' | 'subject'>

const limitDefault = 100

/** What is to be written to upstreams, in the order in which it was done here. */
export async function listWrites(
  { database }: StorageContext,
  options: ListWritesOptions = {},
): Promise<OutboxWrite[]> {
  const { upstream, states = ['pending', 'conflict'], limit = limitDefault, offset = 0 } = options
  const rows = await withUpstreams(database.read)
    .selectFrom('upstream_writes')
    .leftJoin('users', 'users.id', 'upstream_writes.user_id')
    .selectAll('upstream_writes')
    .select('users.username')
    .where('upstream_writes.state', 'in', states)
    .$if(upstream !== undefined, (select) => select.where('upstream_writes.upstream', '=', upstream!))
    .orderBy('position')
    .orderBy('upstream_writes.id')
    .limit(limit)
    .offset(offset)
    .execute()
  return Promise.all(rows.map(({ username, ...row }) => toShown(database.read, parseWrite(row), username)))
}

/** Sends a write in conflict again, as it is. Throws `not_found`, `conflict` for one that is settled. */
export async function retryWrite(context: MirrorContext, id: string): Promise<OutboxPlace> {
  return settle(context, id, async (trx, write) => {
    if (write.state === 'conflict') await reopen(trx, write, {})
  })
}

/** Gives a write up; what waits behind it goes on. Throws `not_found`, `conflict` for one that is settled. */
export async function dropWrite(context: MirrorContext, id: string): Promise<OutboxPlace> {
  return settle(context, id, async (trx, { id: dropped }) => {
    const change = { state: 'dropped', ended_at: context.clock.now() } as const
    await withUpstreams(trx).updateTable('upstream_writes').set(change).where('id', '=', dropped).execute()
  })
}

/**
 * Publishes, or forks, under another name there; what follows of this skill goes to that name too. Throws `not_found`,
 * `invalid_request`, `conflict` for what is settled, or may have arrived under the old name already, `name_taken` for the
 * name of another skill there.
 */
export async function renameWrite(context: MirrorContext, id: string, newName: string): Promise<OutboxPlace> {
  if (!isSkillName(newName)) {
    throw new RegistryError(
      'invalid_request',
      `'${newName}' is no name of a skill: write it as in pdf-tools, without an owner.`,
    )
  }
  return settle(context, id, async (trx, write) => {
    if (write.kind !== 'publish' && write.kind !== 'fork') {
      throw new RegistryError(
        'invalid_request',
        'Only what is published or forked can take another name; retry or drop this.',
      )
    }
    if (write.state === 'pending' && write.attempts > 0) {
      const detail = 'It may have arrived already, though no answer came. Wait for one, or drop it.'
      throw new RegistryError('conflict', detail)
    }
    await refuseTaken(trx, write, newName)
    await reopen(trx, write, { renamedTo: newName })
  })
}

/** Its versions would be mixed with those of the other one, which is the same user's. */
async function refuseTaken(trx: WriteTransaction, { upstream, subject }: StoredWrite, newName: string): Promise<void> {
  const there = await findNameThere(trx, upstream, subject)
  const wanted = `${there.slice(0, there.indexOf('/'))}/${newName}`
  const mirrored = await trx
    .selectFrom('skills')
    .select('full_name')
    .where('full_name', '=', wanted)
    .where('origin_upstream', '=', upstream)
    .executeTakeFirst()
  const others = await withUpstreams(trx)
    .selectFrom('upstream_writes')
    .select('subject')
    .distinct()
    .where('upstream', '=', upstream)
    .where('state', 'in', ['pending', 'conflict', 'delivered'])
    .where('kind', 'in', ['publish', 'fork'])
    .where('subject', '!=', subject)
    .where((eb) => eb.or([eb('subject', 'like', `%/${newName}`), eb('payload', 'like', `%"renamedTo":"${newName}"%`)]))
    .execute()
  const names = await Promise.all(others.map((other) => findNameThere(trx, upstream, other.subject)))
  if (!mirrored && !names.includes(wanted)) return
  throw new RegistryError('name_taken', `${wanted} is another skill at ${upstream}; choose a name that is free there.`)
}

async function settle(
  context: MirrorContext,
  id: string,
  change: (trx: WriteTransaction, write: StoredWrite) => Promise<void>,
): Promise<OutboxPlace> {
  return context.database.writer.write(async (trx) => {
    const write = await getWrite(trx, id)
    if (write.state === 'delivered' || write.state === 'dropped') {
      throw new RegistryError('conflict', `This write is ${write.state}; there is nothing to settle.`)
    }
    await change(trx, write)
    const { location } = await getUpstream(trx, write.upstream)
    const { upstream, subject } = write
    await enqueueDelivery(trx, context, { upstream: { name: upstream, location }, subject })
    return { upstream, subject }
  })
}

/** A new request: under the old key the upstream would repeat what it refused. */
async function reopen(trx: WriteTransaction, write: StoredWrite, more: { renamedTo?: string }): Promise<void> {
  const payload = { ...write.payload, ...more, round: (write.payload.round ?? 0) + 1 }
  await setPayload(trx, write.id, payload)
  await withUpstreams(trx)
    .updateTable('upstream_writes')
    .set({ state: 'pending', error: null })
    .where('id', '=', write.id)
    .execute()
}

/** A write as the operator sees it. */
export async function toShown(db: Database['read'], write: StoredWrite, user: string | null): Promise<OutboxWrite> {
  const { id, upstream, subject, kind, state, attempts, error, payload } = write
  const { version = null } = payload as { version?: string }
  const there = await findNameThere(db, upstream, subject)
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
    subjectThere: renamedTo === undefined ? there : `${there.slice(0, there.indexOf('/'))}/${renamedTo}`,
    problem: error === null ? null : (JSON.parse(error) as WriteProblem),
    createdAt: write.created_at,
    endedAt: write.ended_at,
  }
}
