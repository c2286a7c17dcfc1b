import type { SkillDetails } from '@skillstead/protocol'
import { useMe } from '../../session.ts'

/** Whether the signed-in user owns the skill or operates the node. A mirrored skill is managed at its origin. */
export function useRoles(skill: SkillDetails) {
  const me = useMe()
  return {
    isOwner: me != null && isOwnedBy(skill.fullName, me.username) && skill.origin.kind !== 'mirror',
    isAdmin: me?.role === 'admin',
  }
}

export function useMayManage(skill: SkillDetails): boolean {
  const { isOwner, isAdmin } = useRoles(skill)
  return isOwner || isAdmin
}

export function isOwnedBy(fullName: string, username: string): boolean {
  return fullName.split('/')[0] === username
}
