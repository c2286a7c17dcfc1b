import type { StorageContext } from '../storage/storage-context.ts'
import type { Transparency } from './transparency.ts'

/** Dependencies of the log. */
export interface LogContext extends StorageContext {
  /** Name of this node in feeds and proofs. */
  readonly origin: string
  /** Increases when the database moves to a new server or is restored, so that mirrors notice. */
  readonly epoch: number
  readonly transparency: Transparency
}
