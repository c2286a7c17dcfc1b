import type { StorageContext } from '@skillstead/core/internal'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type UpstreamRow, withUpstreams } from './tables/mirror-tables.ts'
import { RegistryError, readErrorCode } from '@skillstead/protocol'

/** The exclusive right to sync one upstream. Across all nodes of a database, one run at a time has it. */
export interface Lease {
  readonly id: string
  /** Aborted when another run took the lease over. */
  readonly lost: AbortSignal
  /**
   * Releases the lease and stores other columns of the upstream in the same update. Does nothing if the lease was lost.
   */
  release(changes?: ReleaseChanges): Promise<void>
}

type ReleaseChanges = Partial<Pick<UpstreamRow, 'report' | 'tried_at' | 'synced_at'>>

const leaseMs = 10_000
const renewMs = 3_000
const pollMs = 250

type Context = StorageContext

interface Holder {
  readonly lease: string | null
  readonly lease_until: number
}

/**
 * Takes the lease of an upstream. Throws `conflict` if another run keeps renewing it. Takes over the lease of a killed
 * run: at once if its process is known to have ended or the lease has expired, else when it was not renewed for the
 * length of a lease, because the clock may have jumped. Each write of a run checks that the run still has the lease.
 */
export async function takeLease(context: Context, name: string, signal: AbortSignal): Promise<Lease> {
  const id = `${hostname()}/${process.pid}/${randomUUID()}`
  let seen: Holder | undefined
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const isOver = waitedMs >= leaseMs
    const holder = await tryTake(context, name, id, isOver ? seen : undefined)
    if (!holder) return createRenewedLease(context, name, id)
    if (seen && (holder.lease !== seen.lease || holder.lease_until !== seen.lease_until)) throw toConflict(name)
    seen = holder
    await sleep(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/**
 * Takes the lease, or returns its present holder. `expired`: a holder that did not renew the lease in time, and is
 * replaced unless it has renewed the lease since.
 */
async function tryTake(
  { database, clock }: Context,
  name: string,
  id: string,
  expired: Holder | undefined,
): Promise<Holder | undefined> {
  return database.writer.write(async (trx) => {
    const now = clock.now()
    const row = await withUpstreams(trx)
      .selectFrom('upstreams')
      .select(['lease', 'lease_until'])
      .where('name', '=', name)
      .executeTakeFirst()
    if (!row) throw new RegistryError('not_found', `There is no upstream '${name}'.`)
    const isOver = expired?.lease === row.lease && expired?.lease_until === row.lease_until
    if (row.lease !== null && !isOver && row.lease_until > now && !isGone(row.lease)) return row
    await withUpstreams(trx)
      .updateTable('upstreams')
      .set({ lease: id, lease_until: now + leaseMs })
      .where('name', '=', name)
      .execute()
    return undefined
  })
}

function createRenewedLease({ database, clock }: Context, name: string, id: string): Lease {
  const losing = new AbortController()
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs)
  timer.unref()

  /** Renews the lease. A failed renewal is ignored, because the next renewal follows before the lease expires. */
  async function renew(): Promise<void> {
    const { numUpdatedRows } = await database.writer.write((trx) =>
      withUpstreams(trx)
        .updateTable('upstreams')
        .set({ lease_until: clock.now() + leaseMs })
        .where('name', '=', name)
        .where('lease', '=', id)
        .executeTakeFirst(),
    )
    if (numUpdatedRows === 0n) losing.abort(toConflict(name))
  }

  return {
    id,
    lost: losing.signal,
    async release(changes = {}) {
      clearInterval(timer)
      await database.writer.write((trx) =>
        withUpstreams(trx)
          .updateTable('upstreams')
          .set({ ...changes, lease: null, lease_until: 0 })
          .where('name', '=', name)
          .where('lease', '=', id)
          .execute(),
      )
    },
  }
}

/** Whether the process that took the lease ran on this machine and has ended. */
function isGone(lease: string): boolean {
  const [host, pid] = lease.split('/')
  if (host !== hostname() || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return readErrorCode(error) === 'ESRCH'
  }
}

/** The error of a run whose upstream another run is syncing or has taken over. */
export function toConflict(name: string): RegistryError {
  return new RegistryError('conflict', `Another sync of '${name}' is running. Wait until it ends.`)
}
