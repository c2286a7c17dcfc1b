import type { KeyObject } from 'node:crypto'

/** What a process keeps of the log in memory: all of it can be read again. */
export interface Transparency {
  /** Private keys, ready to sign, by their number. */
  readonly keys: Map<number, KeyObject>
  /** Signed checkpoints by tree size and keys, and by time. */
  readonly checkpoints: Map<string, string>
  /** Tiles by level and number. */
  readonly tiles: Map<string, Tile>
}

/** A tile in memory. */
export interface Tile {
  /** Side by side; of one that is not full yet as many as were there when it was read. */
  readonly hashes: Buffer
  /** Roots within it that were computed already, by where they begin and how many hashes are below. */
  readonly nodes: Map<string, Buffer>
}

/** Nothing kept yet. */
export function createTransparency(): Transparency {
  return { keys: new Map(), checkpoints: new Map(), tiles: new Map() }
}

/** Keeps a value as the newest, and lets go of the oldest one where there are too many. */
export function keep<Value>(kept: Map<string, Value>, key: string, value: Value, valuesMax: number): void {
  kept.delete(key)
  kept.set(key, value)
  if (kept.size > valuesMax) kept.delete(kept.keys().next().value!)
}
