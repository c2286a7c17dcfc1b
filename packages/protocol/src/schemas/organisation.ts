import * as v from 'valibot'
import { memberRoles, teamRoles } from '../roles.ts'
import { AvatarUrl, Count, Id, Timestamp } from './fields.ts'

export const MemberRole = v.picklist(memberRoles)
export const TeamRole = v.picklist(teamRoles)

/** An organisation, which owns skills and has members. */
export const Organisation = v.object({
  id: Id,
  name: v.string(),
  displayName: v.string(),
  avatarUrl: AvatarUrl,
  createdAt: Timestamp,
  /** The caller's role; null for a caller who is not a member. */
  role: v.nullable(MemberRole),
  counts: v.object({ members: Count, teams: Count, skills: Count }),
})
/** An organisation, which owns skills and has members. */
export type Organisation = v.InferOutput<typeof Organisation>

/** A member of an organisation, or an invited user. */
export const Member = v.object({
  username: v.string(),
  role: MemberRole,
  status: v.picklist(['invited', 'accepted']),
  /** True for a member by a group of the identity provider, whom owners of the organisation cannot change or remove. */
  byGroup: v.optional(v.boolean()),
})
/** A member of an organisation, or an invited user. */
export type Member = v.InferOutput<typeof Member>

/** A team, which has a role on some skills of its organisation. */
export const Team = v.object({
  name: v.string(),
  members: v.array(v.string()),
  /** Skills by short name. Skills that the caller may not see are left out. */
  skills: v.array(v.object({ name: v.string(), role: TeamRole })),
})
/** A team, which has a role on some skills of its organisation. */
export type Team = v.InferOutput<typeof Team>
