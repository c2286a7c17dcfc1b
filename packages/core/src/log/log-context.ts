import type { KeyObject } from 'node:crypto'
import type { StorageContext } from '../storage/storage-context.ts'

/** Dependencies of the log. */
export interface LogContext extends StorageContext {
  /** Name of this node in feeds and proofs. */
  readonly origin: string
  /** Increases when the database moves to a new server or is restored, so that mirrors notice. */
  readonly epoch: number
  readonly transparency: Transparency
}

/** In-memory caches of values that can be read or computed again. */
interface Transparency {
  /** Parsed private keys by number. */
  readonly keys: Map<number, KeyObject>
  /** Signed checkpoints: without cosignatures by tree size and keys, with cosignatures by tree size, keys and time. */
  readonly checkpoints: Map<string, string>
  /** Tiles by level and number. */
  readonly tiles: Map<string, Tile>
}

/** A cached tile. */
export interface Tile {
  /** Concatenated hashes. If the tile was not full when it was read, later hashes are missing. */
  readonly hashes: Buffer
  /** Computed roots of subtrees inside the tile, by their first hash and number of hashes. */
  readonly nodes: Map<string, Buffer>
}

/** Creates empty caches. */
export function createTransparency(): Transparency {
  return { keys: new Map(), checkpoints: new Map(), tiles: new Map() }
}

/** Inserts a value as the most recent, and evicts the oldest above `valuesMax`. */
export function cacheRecent<Value>(cached: Map<string, Value>, key: string, value: Value, valuesMax: number): void {
  cached.delete(key)
  cached.set(key, value)
  if (cached.size > valuesMax) cached.delete(cached.keys().next().value!)
}
