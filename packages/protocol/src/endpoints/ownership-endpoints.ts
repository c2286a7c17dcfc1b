import * as v from 'valibot'
import { toEndpoints } from '../endpoint.ts'
import {
  Count,
  Flag,
  Id,
  NoContent,
  SkillName,
  SkillRef,
  Term,
  Timestamp,
  Username,
  boundedText,
  pageLimit,
  page,
  pageFields,
  readableText,
  wholeNumber,
} from '../schemas/fields.ts'
import { Recall, Recalls } from '../schemas/recall.ts'
import { OwnSkill, Skill, SkillDetails } from '../schemas/skill.ts'

const name = { name: SkillRef }
const nameInput = v.strictObject(name)

const Transfer = v.object({ fullName: v.string(), newOwner: v.string(), createdAt: Timestamp })
const Share = v.object({ id: Id, createdAt: Timestamp, expiresAt: Timestamp })
const Role = v.picklist(['read', 'write'])
const Collaborator = v.object({ username: v.string(), role: Role, status: v.picklist(['invited', 'accepted']) })
const Invitation = v.object({ fullName: v.string(), owner: v.string(), role: Role, createdAt: Timestamp })

/** Operations of owners and users on a skill: yanking, forks, stars, collaborators, transfers, share links. */
export const ownershipEndpoints = toEndpoints('Skills', {
  yankVersion: {
    auth: 'key',
    scope: 'publish',
    status: 204,
    summary: 'Yank a version: remove it from search and defaults, but still serve its exact number',
    input: v.strictObject({ ...name, version: Term }),
    output: NoContent,
  },
  unyankVersion: {
    auth: 'key',
    scope: 'publish',
    status: 204,
    summary: 'Undo a yank',
    input: v.strictObject({ ...name, version: Term }),
    output: NoContent,
  },
  recallSkill: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Recall the versions of a skill in a range: clients and gateways refuse them, also those published later',
    input: v.strictObject({ ...name, range: boundedText(1000), reason: readableText(500) }),
    output: Recall,
  },
  listRecalls: {
    auth: 'none',
    summary:
      'List the recalls of a skill, newest first; for its owner and administrators with what is known of who has recalled versions',
    volatile: true,
    input: v.object(name),
    output: Recalls,
  },
  endRecall: {
    auth: 'key',
    scope: 'manage',
    summary: 'End a recall',
    input: v.strictObject({ ...name, id: Term }),
    output: Recall,
  },
  forkSkill: {
    auth: 'key',
    scope: 'publish',
    status: 201,
    summary: 'Fork a skill to your own account',
    input: v.strictObject({ ...name, newName: v.optional(SkillName) }),
    output: SkillDetails,
  },
  starSkill: {
    auth: 'key',
    scope: 'manage',
    summary: 'Star a skill',
    input: nameInput,
    output: v.object({ starred: v.boolean(), stars: Count }),
  },
  unstarSkill: {
    auth: 'key',
    scope: 'manage',
    summary: 'Remove a star',
    input: nameInput,
    output: v.object({ starred: v.boolean(), stars: Count }),
  },
  getStar: {
    auth: 'key',
    summary: 'Show whether you starred a skill',
    input: v.object(name),
    output: v.object({ starred: v.boolean(), stars: Count }),
  },
  listStars: {
    auth: 'key',
    summary: 'List the skills that you starred, newest first',
    input: v.object({ page, limit: pageLimit() }),
    output: v.object({ skills: v.array(Skill), ...pageFields }),
  },
  listOwnSkills: {
    auth: 'key',
    summary: 'List your own skills, or those of an organisation, including those that others cannot see',
    /** `moderated`: list only flagged, hidden and taken-down skills. */
    input: v.object({
      moderated: v.optional(Flag, false),
      organisation: v.optional(Username),
      page,
      limit: pageLimit(),
    }),
    output: v.object({ skills: v.array(OwnSkill), ...pageFields }),
  },
  listCollaborators: {
    auth: 'key',
    summary: 'List the collaborators of a skill and the invited users',
    input: v.object(name),
    output: v.object({ collaborators: v.array(Collaborator), total: Count }),
  },
  putCollaborator: {
    auth: 'key',
    scope: 'manage',
    summary: 'Invite a user to read a private skill, or to publish to it; change the role of a collaborator',
    input: v.strictObject({ ...name, username: Username, role: Role }),
    output: Collaborator,
  },
  deleteCollaborator: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'End a collaboration, withdraw an invitation or decline one',
    input: v.strictObject({ ...name, username: Username }),
    output: NoContent,
  },
  acceptCollaboration: {
    auth: 'key',
    scope: 'manage',
    summary: 'Accept an invitation to collaborate on a skill',
    input: nameInput,
    output: Collaborator,
  },
  listInvitations: {
    auth: 'key',
    summary: 'List the skills that you are invited to collaborate on',
    input: v.object({}),
    output: v.object({ invitations: v.array(Invitation), total: Count }),
  },
  transferSkill: {
    auth: 'key',
    scope: 'manage',
    status: 202,
    summary: 'Offer a skill to another user, who becomes its owner by accepting',
    input: v.strictObject({ ...name, newOwner: Username }),
    output: Transfer,
  },
  acceptTransfer: {
    auth: 'key',
    scope: 'manage',
    summary: 'Accept a skill that was offered to you; its old full name redirects',
    input: nameInput,
    output: SkillDetails,
  },
  cancelTransfer: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Cancel or decline an offered transfer',
    input: nameInput,
    output: NoContent,
  },
  listTransfers: {
    auth: 'key',
    summary: 'List the transfers that you received or offered',
    input: v.object({}),
    output: v.object({ transfers: v.array(Transfer), total: Count }),
  },
  createShare: {
    auth: 'key',
    scope: 'manage',
    status: 201,
    summary: 'Create a link that grants read access to a private skill, and ends no later than the key in use',
    input: v.strictObject({ ...name, expiresInDays: v.optional(wholeNumber(1, 365), 7) }),
    output: v.object({ ...Share.entries, token: v.optional(v.string()) }),
  },
  listShares: {
    auth: 'key',
    summary: 'List the links that share a private skill',
    input: v.object(name),
    output: v.object({ shares: v.array(Share), total: Count }),
  },
  deleteShare: {
    auth: 'key',
    scope: 'manage',
    status: 204,
    summary: 'Revoke a link that shares a private skill',
    input: v.strictObject({ ...name, id: Term }),
    output: NoContent,
  },
})
