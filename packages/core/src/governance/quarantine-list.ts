import type { QuarantinedVersion } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { requireUser, type Caller } from '../kernel/caller.ts'
import type { GovernanceContext } from './governance-context.ts'
import { toOffset, toPage } from '../kernel/paging.ts'
import type { Tables } from '../storage/tables.ts'
import { toQuarantinedVersion } from '../catalogue/quarantine-version.ts'
import { mayDecide, readQuarantined, selectQuarantined } from './quarantined-versions.ts'

/**
 * GET /quarantine, oldest first: versions that wait for an administrator, and stored versions that a rescan
 * quarantined. The caller's own, or all for administrators.
 */
export async function listQuarantined(
  context: GovernanceContext,
  { page, limit }: { page: number; limit: number },
  caller: Caller,
) {
  const { read } = context.database
  const { userId } = requireUser(caller)
  const ownerId = mayDecide(caller) ? undefined : userId
  const waiting = read
    .selectFrom('held_versions')
    .$if(ownerId !== undefined, (select) => select.where('owner_id', '=', ownerId!))
  const stored = selectQuarantined(read, ownerId)
  const all = waiting
    .select(['held_versions.id', 'held_versions.created_at as at'])
    .unionAll(stored.select(['versions.id', 'quarantined_versions.quarantined_at as at']))
  const { count } = await read
    .selectFrom(all.as('listed'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  const shown = await read
    .selectFrom(all.as('listed'))
    .select('id')
    .orderBy('at')
    .orderBy('id')
    .limit(limit)
    .offset(toOffset(page, limit))
    .execute()
  const ids = shown.map(({ id }) => id)
  const rows = [...(await readWaiting(read, ids)), ...(await readQuarantined(read, ids))]
  const byId = new Map(rows.map((row) => [row.id, row]))
  // A version may be released or withdrawn between these queries.
  return { quarantined: ids.flatMap((id) => byId.get(id) ?? []), ...toPage(count, page, limit) }
}

async function readWaiting(read: Kysely<Tables>, ids: readonly string[]): Promise<QuarantinedVersion[]> {
  if (ids.length === 0) return []
  const rows = await read
    .selectFrom('held_versions')
    .innerJoin('users', 'users.id', 'held_versions.publisher_id')
    .selectAll('held_versions')
    .select('users.username as publisher')
    .where('held_versions.id', 'in', ids)
    .execute()
  return rows.map(toQuarantinedVersion)
}
