import type { ChangeFollower } from '../change-follower.ts'

/** Which public skills names lead to, kept until a skill changes: for what is asked often and needs no more of a skill. */
export interface PublicNames {
  /** The id of the skill that a guest gets by a name; `find` looks it up and throws where there is none. */
  getId(name: string, find: () => Promise<string>): Promise<string>
}

const namesMax = 20_000

export function createPublicNames(changes: ChangeFollower): PublicNames {
  const ids = new Map<string, string>()
  changes.follow((batch) => {
    if (batch.some(({ kind }) => kind === 'skill')) ids.clear()
  })
  return {
    async getId(name, find) {
      const kept = ids.get(name)
      if (kept !== undefined) return kept
      const position = changes.position
      const id = await find()
      if (ids.size >= namesMax) ids.clear()
      // Not where a change came between: it may have been of this very name.
      if (position === changes.position) ids.set(name, id)
      return id
    },
  }
}
