import type { StorageContext } from '@skillstead/core/internal'
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { type UpstreamRow, withUpstreams } from './tables/mirror-tables.ts'
import { RegistryError } from '@skillstead/protocol'

/** The right to sync one upstream, which one run has at a time, on however many nodes. */
export interface Lease {
  readonly id: string
  /** Aborted when another run took it over. */
  readonly lost: AbortSignal
  /** Gives it back, with what else is to be stored of the upstream in the same moment; not once it is lost. */
  release(changes?: ReleaseChanges): Promise<void>
}

type ReleaseChanges = Partial<Pick<UpstreamRow, 'report' | 'tried_at' | 'synced_at'>>

const leaseMs = 10_000
const renewMs = 3_000
const lookMs = 250

type Context = StorageContext

interface Holding {
  readonly lease: string | null
  readonly lease_until: number
}

/**
 * Takes the lease of an upstream. One that another run keeps renewing is a `conflict`; one whose run was killed is taken
 * over, at once where the process is known to be gone. Which of the two it is shows by whether it is renewed and not by
 * the clock, which may jump; and whatever happens here, each write of a run checks that the lease is still its own.
 */
export async function takeLease(context: Context, name: string, signal: AbortSignal): Promise<Lease> {
  const id = `${hostname()}/${process.pid}/${randomUUID()}`
  let seen: Holding | undefined
  for (let waitedMs = 0; ; waitedMs += lookMs) {
    const isOver = waitedMs >= leaseMs
    const holding = await tryTake(context, name, id, isOver ? seen : undefined)
    if (!holding) return keep(context, name, id)
    if (seen && (holding.lease !== seen.lease || holding.lease_until !== seen.lease_until)) throw toConflict(name)
    seen = holding
    await sleep(lookMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

/** Answers who has it, where that may be somebody; `over` has it no more, whatever it says. */
async function tryTake(
  { database, clock }: Context,
  name: string,
  id: string,
  over: Holding | undefined,
): Promise<Holding | undefined> {
  return database.writer.write(async (trx) => {
    const now = clock.now()
    const row = await withUpstreams(trx)
      .selectFrom('upstreams')
      .select(['lease', 'lease_until'])
      .where('name', '=', name)
      .executeTakeFirst()
    if (!row) throw new RegistryError('not_found', `There is no upstream '${name}'.`)
    const isOver = over?.lease === row.lease && over?.lease_until === row.lease_until
    if (row.lease !== null && !isOver && row.lease_until > now && !isGone(row.lease)) return row
    await withUpstreams(trx)
      .updateTable('upstreams')
      .set({ lease: id, lease_until: now + leaseMs })
      .where('name', '=', name)
      .execute()
    return undefined
  })
}

function keep({ database, clock }: Context, name: string, id: string): Lease {
  const losing = new AbortController()
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs)
  timer.unref()

  /** A database that is full or busy loses nothing: the next one comes soon. */
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

/** Whether the process that took it ran on this machine, and runs no more. */
function isGone(lease: string): boolean {
  const [host, pid] = lease.split('/')
  if (host !== hostname() || Number(pid) === process.pid) return false
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** For a run whose upstream another one has, or took over. */
export function toConflict(name: string): RegistryError {
  return new RegistryError('conflict', `Another sync of '${name}' is running; wait until it ends.`)
}
