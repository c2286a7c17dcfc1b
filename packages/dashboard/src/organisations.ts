import { type MemberRole, type Right, rightsByRole } from '@skillstead/protocol'
import { api, useData } from './api.ts'
import { useMe } from './session.ts'

/** The organisations that the signed-in user is a member of, by name; at most 100. */
export function readOrganisations() {
  return api.listOrganisations({ limit: 100 })
}

/** The organisations of the signed-in user; no request is sent for a visitor. */
export function useOrganisations(enabled = true) {
  const me = useMe()
  return useData(['organisations', me?.username], readOrganisations, Boolean(me) && enabled)
}

/** Whether a role has a right; a user without a role has none. */
export function mayDo(role: MemberRole | null | undefined, right: Right): boolean {
  return role != null && rightsByRole[role].includes(right)
}

/**
 * The role of the signed-in user for the skills of an owner: `owner` for the own ones, the role of a member for those of
 * an organisation. Undefined for others.
 */
export function useRoleFor(owner: string): MemberRole | undefined {
  const isSelf = useMe()?.username === owner
  const { data } = useOrganisations(!isSelf)
  return isSelf ? 'owner' : (data?.organisations.find(({ name }) => name === owner)?.role ?? undefined)
}
