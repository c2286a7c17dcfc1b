import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import { limits } from '../limits.ts'
import {
  boundedArray,
  boundedText,
  Count,
  Flag,
  NoContent,
  page,
  pageFields,
  pageLimit,
  readableText,
  SkillName,
  SkillRef,
  Term,
  Timestamp,
  Username,
} from '../schemas/fields.ts'
import { Policy, PolicyRefusal, StoredPolicy } from '../schemas/policy.ts'
import { Claims, TrustedPublisher } from '../schemas/trusted-publisher.ts'
import { Member, MemberRole, Organisation, Team, TeamRole } from '../schemas/organisation.ts'

const organisation = { organisation: Username }
const displayName = { displayName: v.optional(readableText(limits.displayNameCharactersMax)) }
const teamLists = {
  members: v.optional(boundedArray(Username, limits.teamMembersMax)),
  skills: v.optional(boundedArray(v.strictObject({ name: SkillName, role: TeamRole }), limits.teamSkillsMax)),
}
const MemberInvitation = v.object({ organisation: v.string(), role: MemberRole, createdAt: Timestamp })

/** Operations on organisations, their members and teams. */
export const organisationsEndpoints = toEndpoints('Organisations', {
  createOrganisation: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Create an organisation, of which you become the owner',
    input: v.strictObject({
      name: Username,
      ...displayName,
      /** The first owner, chosen by an administrator. Default: the caller. */
      owner: v.optional(Username),
    }),
    output: Organisation,
  },
  listOrganisations: {
    auth: 'key',
    summary: 'List the organisations that you are a member of; administrators see all with `all`',
    input: v.object({ page, limit: pageLimit(), all: v.optional(Flag, false) }),
    output: v.object({ organisations: v.array(Organisation), ...pageFields }),
  },
  getOrganisation: {
    auth: 'none',
    summary: 'Show an organisation',
    input: v.object(organisation),
    output: Organisation,
  },
  updateOrganisation: {
    auth: 'key',
    scope: 'manage',
    summary: 'Change the display name of an organisation',
    input: v.strictObject({ ...organisation, ...displayName }),
    output: Organisation,
  },
  deleteOrganisation: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Delete an organisation that has no skills and no packs; its name stays reserved',
    input: v.strictObject(organisation),
    output: NoContent,
  },
  listMembers: {
    auth: 'key',
    summary: 'List the members of an organisation and the invited users, for members',
    input: v.object({ ...organisation, page, limit: pageLimit() }),
    output: v.object({ members: v.array(Member), ...pageFields }),
  },
  putMember: {
    auth: 'key',
    scope: 'manage',
    summary: 'Invite a user to an organisation, or change the role of a member',
    input: v.strictObject({ ...organisation, username: Username, role: MemberRole }),
    output: Member,
  },
  deleteMember: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Remove a member, leave, withdraw an invitation or decline one',
    input: v.strictObject({ ...organisation, username: Username }),
    output: NoContent,
  },
  acceptMembership: {
    auth: 'key',
    scope: 'manage',
    summary: 'Accept an invitation to an organisation',
    input: v.strictObject(organisation),
    output: Member,
  },
  listMemberInvitations: {
    auth: 'key',
    summary: 'List the organisations that you are invited to',
    input: v.object({}),
    output: v.object({ invitations: v.array(MemberInvitation), total: Count }),
  },
  listTeams: {
    auth: 'key',
    summary: 'List the teams of an organisation, for members',
    input: v.object({ ...organisation, page, limit: pageLimit() }),
    output: v.object({ teams: v.array(Team), ...pageFields }),
  },
  putTeam: {
    auth: 'key',
    scope: 'manage',
    summary: 'Create a team, or replace its members or its skills, whichever the request has',
    input: v.strictObject({
      ...organisation,
      team: SkillName,
      ...teamLists,
    }),
    output: Team,
  },
  updateTeam: {
    auth: 'key',
    scope: 'manage',
    summary: 'Add members and skills to a team, or remove them; all others stay',
    input: v.strictObject({
      ...organisation,
      team: SkillName,
      add: v.optional(v.strictObject(teamLists)),
      remove: v.optional(
        v.strictObject({
          members: teamLists.members,
          skills: v.optional(boundedArray(SkillName, limits.teamSkillsMax)),
        }),
      ),
    }),
    output: Team,
  },
  deleteTeam: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Delete a team; its members stay in the organisation',
    input: v.strictObject({ ...organisation, team: SkillName }),
    output: NoContent,
  },
  getPolicy: {
    auth: 'key',
    summary: 'Show what an organisation demands of new versions, for members',
    input: v.object(organisation),
    output: StoredPolicy,
  },
  setPolicy: {
    auth: 'key',
    scope: 'manage',
    summary: 'Set what an organisation demands of new versions; an empty policy demands nothing',
    input: v.strictObject({ ...organisation, policy: Policy }),
    output: StoredPolicy,
  },
  testPolicy: {
    auth: 'key',
    costly: true,
    summary: 'List the stored skills of an organisation that break a policy, by default the one that is set',
    input: v.strictObject({ ...organisation, policy: v.optional(Policy) }),
    output: v.object({
      skills: v.array(v.object({ fullName: v.string(), version: v.string(), refusals: v.array(PolicyRefusal) })),
      tested: Count,
    }),
  },
  getSkillPolicy: {
    auth: 'key',
    summary: 'Show what is demanded of new versions of a skill, apart from the policy of its organisation',
    input: v.object({ name: SkillRef }),
    output: StoredPolicy,
  },
  setSkillPolicy: {
    auth: 'key',
    scope: 'manage',
    summary:
      'Set what is demanded of new versions of a skill, field by field instead of the policy of its organisation',
    input: v.strictObject({ name: SkillRef, policy: Policy }),
    output: StoredPolicy,
  },
  listTrustedPublishers: {
    auth: 'key',
    scope: 'manage',
    summary: 'List the identities of CI that may publish your skills, or those of an organisation',
    input: v.object({ owner: v.optional(Username), page, limit: pageLimit() }),
    output: v.object({ publishers: v.array(TrustedPublisher), ...pageFields }),
  },
  putTrustedPublisher: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Let an identity of CI publish a skill, or all skills of an owner, without a stored secret',
    input: v.strictObject({
      /** The owner, or the full name of a skill, which may not exist yet. */
      target: SkillRef,
      /** The HTTPS address that issues the tokens, such as `https://token.actions.githubusercontent.com`. */
      issuer: boundedText(500),
      /** Exact values, or patterns with `*`, that claims of the token must have; they are shown with each version. */
      claims: Claims,
    }),
    output: TrustedPublisher,
  },
  deleteTrustedPublisher: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Remove an identity of CI; keys that it was given end at once',
    input: v.strictObject({ id: Term }),
    output: NoContent,
  },
})
