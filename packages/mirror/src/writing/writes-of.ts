import type { StorageContext } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import { parseWrite, type StoredWrite } from './rows.ts'
import { toShown } from './settle.ts'
import type { OutboxWrite } from '../write-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

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
  const row = await withUpstreams(database.read)
    .selectFrom('upstream_writes')
    .leftJoin('users', 'users.id', 'upstream_writes.user_id')
    .selectAll('upstream_writes')
    .select('users.username')
    .where('upstream_writes.id', '=', id)
    .where('upstream_writes.upstream', '=', upstream)
    .executeTakeFirst()
  if (!row) throw new RegistryError('not_found', `There is no write '${id}' for '${upstream}'.`)
  const { username, ...write } = row
  return toShown(database.read, parseWrite(write), username)
}
