import type { ChangeFollower } from '../log/change-follower.ts'
import type { UsedSkill } from './use-counts.ts'

/** A cache from names to public skills, valid until a skill changes: for frequent look-ups. */
export interface PublicNames {
  /** The skill that an anonymous caller gets by a name. `find` looks it up on a miss and throws if there is none. */
  get(name: string, find: () => Promise<UsedSkill>): Promise<UsedSkill>
}

const namesMax = 20_000

export function createPublicNames(changes: ChangeFollower): PublicNames {
  const skills = new Map<string, UsedSkill>()
  const forget = () => skills.clear()
  changes.follow((batch) => {
    if (batch.some(({ kind }) => kind === 'skill')) forget()
  }, forget)
  return {
    async get(name, find) {
      const cached = skills.get(name)
      if (cached !== undefined) return cached
      const position = changes.position
      const skill = await find()
      if (skills.size >= namesMax) skills.clear()
      // Not cached if a change came in between: it may have been of this name.
      if (position === changes.position) skills.set(name, skill)
      return skill
    },
  }
}
