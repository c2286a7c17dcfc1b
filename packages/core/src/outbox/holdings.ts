import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { leaseMs, releaseRows, renewRows, type ClaimedRow } from './claims.ts'

interface Parts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The rows that this process holds; their leases are renewed for as long as it does. */
export function createHoldings({ database, clock, onError }: Parts) {
  const held = new Map<string, ClaimedRow>()
  let cancelRenewal: (() => void) | undefined

  function planRenewal(): void {
    cancelRenewal ??= clock.setTimer(leaseMs / 3, () => {
      cancelRenewal = undefined
      void renew().catch(onError)
    })
  }

  function isHeld(row: ClaimedRow): boolean {
    return held.get(row.id) === row
  }

  function drop(rows: readonly ClaimedRow[]): void {
    for (const row of rows) if (isHeld(row)) held.delete(row.id)
  }

  /** Lengthens all leases; forgets rows that others took meanwhile, who will say how they go on. */
  async function renew(): Promise<void> {
    if (held.size === 0) return
    planRenewal()
    const rows = [...held.values()]
    const renewed = await renewRows(database, rows, clock.now())
    drop(rows.filter(({ id }) => !renewed.has(id)))
  }

  return {
    isHeld,
    drop,
    renew,
    has: (id: string) => held.has(id),
    add(rows: readonly ClaimedRow[]): void {
      for (const row of rows) held.set(row.id, row)
      if (rows.length > 0) planRenewal()
    },
    /** Gives rows back as they were; whoever looks next has them. */
    async giveBack(rows: readonly ClaimedRow[]): Promise<void> {
      const own = rows.filter(isHeld)
      drop(own)
      if (own.length > 0) await releaseRows(database, own)
    },
    /** Lets the leases run out of what is still held. */
    stop(): void {
      cancelRenewal?.()
      cancelRenewal = undefined
      held.clear()
    },
  }
}

export type Holdings = ReturnType<typeof createHoldings>
