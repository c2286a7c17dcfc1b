/** The events that were handled, by their ids. Put a table of a database behind it where several processes receive. */
export interface Seen {
  /** Whether the id is new; from now on it is not. Of two at the same time exactly one is told that it is. */
  claim(id: string): boolean | Promise<boolean>
  /** Makes an id new again, for its handler failed. A promise is waited for. */
  forget(id: string): unknown
}

/** Remembers so many ids in memory, those that came last. Throws a TypeError for a number that is none. */
export function createSeen(idsMax = 10_000): Seen {
  if (!Number.isSafeInteger(idsMax) || idsMax < 1) throw new TypeError('Say how many ids to remember: one or more.')
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
