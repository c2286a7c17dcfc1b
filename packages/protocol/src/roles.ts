/** A right of a member in an organisation; {@link rightsByRole} explains each right. */
export type Right = 'read' | 'readPrivate' | 'review' | 'publish' | 'manage' | 'administer' | 'own'

/** Roles of members of an organisation, the most powerful first. */
export const memberRoles = ['owner', 'admin', 'publisher', 'reviewer', 'reader'] as const
/** The role of a member of an organisation. */
export type MemberRole = (typeof memberRoles)[number]

/** Roles that a team can have on a skill. */
export const teamRoles = ['admin', 'publisher', 'reviewer', 'reader'] as const
/** The role of a team on a skill. */
export type TeamRole = (typeof teamRoles)[number]

/**
 * The rights of the roles. `read`: skills that are internal to the organisation, its members and teams; `readPrivate`:
 * its private skills as well; `review`: decide on submitted versions; `publish`: new skills and versions; `manage`: the
 * visibility, collaborators, share links, transfer and deletion of skills; `administer`: members, teams and rules of
 * the organisation; `own`: its deletion, and who has the role `owner`.
 */
export const rightsByRole: Readonly<Record<MemberRole, readonly Right[]>> = {
  owner: ['read', 'readPrivate', 'review', 'publish', 'manage', 'administer', 'own'],
  admin: ['read', 'readPrivate', 'review', 'publish', 'manage', 'administer'],
  publisher: ['read', 'readPrivate', 'publish'],
  reviewer: ['read', 'readPrivate', 'review'],
  reader: ['read'],
}

/** The roles that have a right. */
export function rolesWith(right: Right): readonly MemberRole[] {
  return memberRoles.filter((role) => rightsByRole[role].includes(right))
}
