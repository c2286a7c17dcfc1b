import type { Registry } from '@skillstead/core'
import { parseJson, partsOf, type Database, type WriteTransaction } from '@skillstead/core/internal'
import { type UpstreamRow, withUpstreams } from '../tables/mirror-tables.ts'
import { RegistryError } from '@skillstead/protocol'
import type { LastError, SyncReport, Upstream, UpstreamSettings } from '../types.ts'

type Read = Database['read']

/** The JSON in the column `upstreams.report`. */
export interface StoredReport {
  readonly last: SyncReport | null
  /** The error of the latest run, if it failed. */
  readonly error: LastError | null
}

/** The columns of an upstream whose log has not been read yet. */
export const emptyLog = {
  log_epoch: null,
  staged: 0,
  frontier: Buffer.alloc(0),
  verified: 0,
  applied: 0,
  checkpoint: null,
  checkpoint_at: null,
} as const

const emptyReport: StoredReport = { last: null, error: null }

/** All upstreams, by descending priority, then by name. */
export async function listUpstreams(db: Read): Promise<Upstream[]> {
  const rows = await withUpstreams(db).selectFrom('upstreams').selectAll().orderBy('name').execute()
  return rows.map(toUpstream).toSorted((a, b) => b.settings.priority - a.settings.priority)
}

/** The trusted verifier keys of all upstreams, whose logs prove where mirrored versions come from. */
export async function readUpstreamKeys(registry: Registry): Promise<string[]> {
  const { database } = partsOf(registry)
  const rows = await withUpstreams(database.read).selectFrom('upstreams').select('keys').execute()
  return rows.flatMap(({ keys }) => parseJson(keys))
}

/** The upstream of this name. Throws `not_found`. */
export async function getUpstream(db: Read, name: string): Promise<Upstream> {
  const row = await withUpstreams(db).selectFrom('upstreams').selectAll().where('name', '=', name).executeTakeFirst()
  if (!row) throw new RegistryError('not_found', `There is no upstream '${name}'. \`mirror list\` shows all upstreams.`)
  return toUpstream(row)
}

/** Inserts a new upstream. Throws `name_taken` if there is an upstream of this name. */
export async function insertUpstream(
  trx: WriteTransaction,
  given: {
    name: string
    kind: Upstream['kind']
    location: string
    settings: UpstreamSettings
    keys: readonly string[]
    credential: Uint8Array | null
    at: number
  },
): Promise<void> {
  const there = await withUpstreams(trx)
    .selectFrom('upstreams')
    .select('name')
    .where('name', '=', given.name)
    .executeTakeFirst()
  if (there) {
    throw new RegistryError(
      'name_taken',
      `There is already an upstream '${given.name}'. Remove it first, or choose another name.`,
    )
  }
  const { name, kind, location, credential } = given
  await withUpstreams(trx)
    .insertInto('upstreams')
    .values({
      name,
      kind,
      location,
      credential,
      settings: JSON.stringify(given.settings),
      keys: JSON.stringify(given.keys),
      account: null,
      log_origin: null,
      ...emptyLog,
      cursor: 'null',
      lease: null,
      lease_until: 0,
      tried_at: null,
      synced_at: null,
      report: JSON.stringify(emptyReport),
      alarm: null,
      created_at: given.at,
    })
    .execute()
}

/** Updates the operator's settings of an upstream in a transaction. */
export async function changeUpstream(
  trx: WriteTransaction,
  name: string,
  { settings, location, keys, credential }: ChangedUpstream,
): Promise<void> {
  const changes = {
    settings: JSON.stringify(settings),
    location,
    ...(keys !== undefined && { keys: JSON.stringify(keys) }),
    // The account is unknown: the next sync requests the username of the new key.
    ...(credential !== undefined && { credential, account: null }),
  }
  await withUpstreams(trx).updateTable('upstreams').set(changes).where('name', '=', name).execute()
}

interface ChangedUpstream extends Pick<Upstream, 'settings' | 'location'> {
  readonly keys?: readonly string[]
  readonly credential?: Uint8Array
}

/** Deletes an upstream and its log, not its skills. Throws `conflict` while it has writes pending or in conflict. */
export async function deleteUpstream(trx: WriteTransaction, name: string): Promise<void> {
  const waiting = await withUpstreams(trx)
    .selectFrom('upstream_writes')
    .select('id')
    .where('upstream', '=', name)
    .where('state', 'in', ['pending', 'conflict'])
    .limit(1)
    .executeTakeFirst()
  if (waiting)
    throw new RegistryError(
      'conflict',
      `Writes for '${name}' are pending and would be lost. Deliver or drop them first.`,
    )
  for (const table of ['upstream_log', 'upstream_tiles', 'upstream_refusals', 'upstream_links'] as const) {
    await withUpstreams(trx).deleteFrom(table).where('upstream', '=', name).execute()
  }
  await withUpstreams(trx).deleteFrom('upstream_writes').where('upstream', '=', name).execute()
  await withUpstreams(trx).deleteFrom('upstreams').where('name', '=', name).execute()
}

function toUpstream(row: UpstreamRow): Upstream {
  const { log_origin, log_epoch, checkpoint_at, lease_until, tried_at, synced_at, created_at, ...columns } = row
  const { last, error }: StoredReport = JSON.parse(row.report)
  return {
    ...columns,
    settings: JSON.parse(row.settings),
    logOrigin: log_origin,
    logEpoch: log_epoch,
    keys: parseJson(row.keys),
    checkpointAt: checkpoint_at,
    cursor: JSON.parse(row.cursor),
    leaseUntil: lease_until,
    triedAt: tried_at,
    syncedAt: synced_at,
    report: last,
    error,
    alarm: row.alarm === null ? null : JSON.parse(row.alarm),
    createdAt: created_at,
  }
}
