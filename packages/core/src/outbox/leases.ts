import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { leaseMs, releaseRows, renewRows, type ClaimedRow } from './claims.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The rows that this process leases. Renews their leases until they are dropped. */
export function createLeases({ database, clock, onError }: Parts) {
  const leased = new Map<string, ClaimedRow>()
  let cancelRenewal: (() => void) | undefined

  function planRenewal(): void {
    cancelRenewal ??= clock.setTimer(leaseMs / 3, () => {
      cancelRenewal = undefined
      void renew().catch(onError)
    })
  }

  function isLeased(row: ClaimedRow): boolean {
    return leased.get(row.id) === row
  }

  function drop(rows: readonly ClaimedRow[]): void {
    for (const row of rows) if (isLeased(row)) leased.delete(row.id)
  }

  /** Renews all leases, and forgets rows that other workers took meanwhile: those workers write the result. */
  async function renew(): Promise<void> {
    if (leased.size === 0) return
    planRenewal()
    const rows = [...leased.values()]
    const renewed = await renewRows(database, rows, clock.now())
    drop(rows.filter(({ id }) => !renewed.has(id)))
  }

  return {
    isLeased,
    drop,
    renew,
    has: (id: string) => leased.has(id),
    add(rows: readonly ClaimedRow[]): void {
      for (const row of rows) leased.set(row.id, row)
      if (rows.length > 0) planRenewal()
    },
    /** Releases rows, so that the next claim of any worker can take them. */
    async release(rows: readonly ClaimedRow[]): Promise<void> {
      const own = rows.filter(isLeased)
      drop(own)
      if (own.length > 0) await releaseRows(database, own)
    },
    /** Stops renewing: the leases that remain expire. */
    stop(): void {
      cancelRenewal?.()
      cancelRenewal = undefined
      leased.clear()
    },
  }
}

export type Leases = ReturnType<typeof createLeases>
