import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import { type ClaimedRow, leaseMs, releaseRows, renewRows } from './claims.ts'

interface LeasesParts {
  readonly database: Database
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** The rows that this process leases. Renews their leases until they are dropped. */
export class Leases {
  readonly #parts: LeasesParts
  readonly #leased = new Map<string, ClaimedRow>()
  #cancelRenewal: (() => void) | undefined

  constructor(parts: LeasesParts) {
    this.#parts = parts
  }

  has(id: string): boolean {
    return this.#leased.has(id)
  }

  /** Whether this process still leases a row: another worker may have taken the row. */
  isLeased(row: ClaimedRow): boolean {
    return this.#leased.get(row.id) === row
  }

  add(rows: readonly ClaimedRow[]): void {
    for (const row of rows) this.#leased.set(row.id, row)
    if (rows.length > 0) this.#planRenewal()
  }

  drop(rows: readonly ClaimedRow[]): void {
    for (const row of rows) if (this.isLeased(row)) this.#leased.delete(row.id)
  }

  /** Releases rows, so that the next claim of any worker can take them. */
  async release(rows: readonly ClaimedRow[]): Promise<void> {
    const own = rows.filter((row) => this.isLeased(row))
    this.drop(own)
    if (own.length > 0) await releaseRows(this.#parts.database, own)
  }

  /** Renews all leases, and forgets rows that other workers took meanwhile: those workers write the result. */
  async renew(): Promise<void> {
    if (this.#leased.size === 0) return
    this.#planRenewal()
    const rows = [...this.#leased.values()]
    const renewed = await renewRows(this.#parts.database, rows, this.#parts.clock.now())
    this.drop(rows.filter(({ id }) => !renewed.has(id)))
  }

  /** Stops renewing: the leases that remain expire. */
  stop(): void {
    this.#cancelRenewal?.()
    this.#cancelRenewal = undefined
    this.#leased.clear()
  }

  #planRenewal(): void {
    const { clock, onError } = this.#parts
    this.#cancelRenewal ??= clock.setTimer(leaseMs / 3, () => {
      this.#cancelRenewal = undefined
      void this.renew().catch(onError)
    })
  }
}
