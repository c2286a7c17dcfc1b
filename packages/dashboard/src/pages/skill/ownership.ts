import type { Right, SkillDetails } from '@skillstead/protocol'
import { mayDo, useOrganisations, useRoleFor } from '../../organisations.ts'
import { useMe } from '../../session.ts'

/** The owner of a skill: a user or an organisation. */
export function toOwner(fullName: string): string {
  return fullName.split('/')[0]!
}

/**
 * What the signed-in user may do with a skill as its owner, or as a member of the organisation that owns it, and whether
 * the user operates the node. A mirrored skill is managed at its origin.
 */
export function useRoles(skill: SkillDetails) {
  const me = useMe()
  const owner = toOwner(skill.fullName)
  const role = useRoleFor(owner)
  const may = (right: Right) => mayDo(role, right) && skill.origin.kind !== 'mirror'
  return {
    mayPublish: may('publish'),
    isOwner: may('manage'),
    isAdmin: me?.role === 'admin',
    /** The owner, if it is an organisation of the user. */
    organisation: role && owner !== me?.username ? owner : undefined,
  }
}

/** Whether the user may open the Manage tab; undefined until that is known. */
export function useMayManage(skill: SkillDetails): boolean | undefined {
  const { mayPublish, isAdmin } = useRoles(skill)
  const me = useMe()
  const { isLoading } = useOrganisations(toOwner(skill.fullName) !== me?.username)
  if (mayPublish || isAdmin) return true
  return me === undefined || isLoading ? undefined : false
}
