import { type MemberRole, type Right, rightsByRole, type Organisation, type SkillDetails } from '@skillstead/protocol'
import { api, useData } from './api.ts'
import { useMe } from './session.ts'
import { choice } from './ui/form.tsx'

/** The organisations that the signed-in user is a member of, by name; at most 100. */
export const readOrganisations = () => api.listOrganisations({ limit: 100 })

/** The organisations of the signed-in user; no request is sent for a visitor. */
export function useOrganisations(enabled = true) {
  const me = useMe()
  return useData(['organisations', me?.username], readOrganisations, Boolean(me) && enabled)
}

/** Whether a role has a right; a user without a role has none. */
export const mayDo = (role: MemberRole | null | undefined, right: Right): boolean =>
  role != null && rightsByRole[role].includes(right)

/**
 * The role of the signed-in user for the skills of an owner: `owner` for the user's own, the role as a member for those
 * of an organisation. Undefined for other owners.
 */
export function useRoleFor(owner: string): MemberRole | undefined {
  const isSelf = useMe()?.username === owner
  const { data } = useOrganisations(!isSelf)
  return isSelf ? 'owner' : (data?.organisations.find(({ name }) => name === owner)?.role ?? undefined)
}

/** What the sections of an organisation show, and whether the user may change its members, teams and rules. */
export interface SectionProps {
  readonly organisation: Organisation
  readonly mayAdminister: boolean
}

/** What a form can set as the visibility: `organisation` is `internal`, limited to the members of the owner. */
type Choice = (typeof visibilities)[number] | 'organisation'
const visibilities = ['public', 'internal', 'private'] as const

/** The visibilities to choose from for skills of an organisation, or of a user. */
export const toVisibilityOptions = (organisation: string | undefined): readonly (readonly [Choice, string])[] => [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ...(organisation ? ([['organisation', `Internal: members of ${organisation}`]] as const) : []),
  [
    'private',
    organisation
      ? `Private: members of ${organisation} who may publish or review, and collaborators`
      : 'Private: you and your collaborators',
  ],
]

/** The fields of a publication for a chosen visibility; none for an empty choice. */
export function toVisibilityFields(chosen: string | undefined, organisation: string | undefined) {
  if (!chosen) return {}
  const visibility = chosen === 'organisation' ? 'internal' : choice(visibilities, chosen)
  return {
    visibility,
    ...(organisation && visibility === 'internal' && { organisation: chosen === 'organisation' ? organisation : '' }),
  }
}

/** The owner of a skill: a user or an organisation. */
export const toSkillOwner = (fullName: string): string => fullName.split('/')[0]!

/**
 * What the signed-in user may do with a skill as its owner, or as a member of the organisation that owns it, and whether
 * the user operates the node. A mirrored skill is managed at its origin.
 */
export function useRoles(skill: SkillDetails) {
  const me = useMe()
  const owner = toSkillOwner(skill.fullName)
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
  const { isLoading } = useOrganisations(toSkillOwner(skill.fullName) !== me?.username)
  if (mayPublish || isAdmin) return true
  return me === undefined || isLoading ? undefined : false
}

/** The names that the signed-in user may publish under, with titles. The first, empty name stands for the user. */
export function useOwners(): readonly (readonly [name: string, title: string])[] {
  const me = useMe()
  const organisations = useOrganisations().data?.organisations.filter(({ role }) => mayDo(role, 'publish')) ?? []
  return [
    ['', `${me?.username}, you`],
    ...organisations.map(({ name, displayName }) => [name, displayName || name] as const),
  ]
}
