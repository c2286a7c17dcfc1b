import type { Clock } from '../kernel/clock.ts'
import type { Database } from './database.ts'

/** Dependencies of most functions: the database and the current time. */
export interface StorageContext {
  readonly database: Database
  readonly clock: Clock
}
