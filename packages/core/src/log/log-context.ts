import type { Clock } from '../kernel/clock.ts'
import type { Database } from '../storage/database.ts'
import type { Transparency } from './transparency.ts'

/** Dependencies of the log. */
export interface LogContext {
  readonly database: Database
  readonly clock: Clock
  /** Name of this node in feeds and proofs. */
  readonly origin: string
  /** Increases when the database moves to a new server or is restored, so that mirrors notice. */
  readonly epoch: number
  readonly transparency: Transparency
}
