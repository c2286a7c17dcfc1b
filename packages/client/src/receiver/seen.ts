/** The ids of handled events. Use a database table if several processes receive deliveries. */
export interface Seen {
  /** Claims an id; returns whether it was new. Of two concurrent claims exactly one returns true. */
  claim(id: string): boolean | Promise<boolean>
  /** Releases an id, because its handler failed. A returned promise is awaited. */
  forget(id: string): unknown
}

/** Remembers the last `idsMax` ids in memory. Throws a TypeError for an invalid number. */
export function createSeen(idsMax = 10_000): Seen {
  if (!Number.isSafeInteger(idsMax) || idsMax < 1) throw new TypeError('idsMax must be a whole number of at least 1.')
  const ids = new Set<string>()
  return {
    claim(id) {
      const isNew = !ids.delete(id)
      ids.add(id)
      if (ids.size > idsMax) ids.delete(ids.values().next().value!)
      return isNew
    },
    forget: (id) => ids.delete(id),
  }
}
