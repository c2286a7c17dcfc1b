import type { ChangeFollower } from '../log/change-follower.ts'
import type { UsedSkill } from './use-counts.ts'

/** Which public skills names lead to, kept until a skill changes: for what is asked often and needs no more of a skill. */
export interface PublicNames {
  /** The skill that a guest gets by a name; `find` looks it up and throws where there is none. */
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
      const kept = skills.get(name)
      if (kept !== undefined) return kept
      const position = changes.position
      const skill = await find()
      if (skills.size >= namesMax) skills.clear()
      // Not where a change came between: it may have been of this very name.
      if (position === changes.position) skills.set(name, skill)
      return skill
    },
  }
}
