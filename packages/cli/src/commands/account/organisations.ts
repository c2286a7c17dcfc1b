import { type Organisation, type Team, teamRoles } from '@skillstead/protocol'
import { flag, textOption, UsageError } from '../../command/command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { endpointCommand, endpointList } from '../../registry/endpoint-command.ts'

const actor = 'member of the organisation'

export const commands = {
  'org create': endpointCommand('createOrganisation', {
    description: 'Create an organisation, which owns skills and has members. You become its owner.',
    words: { NAME: 'name' },
    options: {
      'display-name': { value: 'TEXT', help: 'the display name' },
      owner: { value: 'NAME', help: 'the first owner, chosen by an administrator. Default: you' },
    },
    show: ({ name }) => [`Created ${name}. Publish for it with \`skillstead publish PATH --organisation ${name}\`.`],
  }),
  'org list': endpointList('listOrganisations', {
    description: 'List the organisations that you are a member of.',
    options: { all: { help: 'all organisations of the node, for administrators' } },
    rows: 'organisations',
    toLines: ({ name, role, counts }) => `${name}  ${role ?? 'no member'}  ${toCounts(counts)}`,
  }),
  'org show': endpointCommand('getOrganisation', {
    description: 'Show an organisation and your role in it.',
    words: { NAME: 'organisation' },
    show: ({ name, displayName, role, counts }) => [
      displayName === name ? name : `${name}  ${displayName}`,
      `  ${toCounts(counts)}`,
      `  your role: ${role ?? 'none'}`,
    ],
  }),
  'org delete': apiCommand({
    description: 'Delete an organisation that has no skills and no packs. Its name stays reserved.',
    words: ['NAME'],
    options: { yes: { help: 'confirm the deletion' } },
    async call(api, given) {
      const [organisation] = given.words
      if (!flag(given, 'yes')) throw new UsageError(`Pass --yes to delete ${organisation}.`)
      await api.deleteOrganisation({ organisation })
      return { deleted: organisation }
    },
    show: ({ deleted }) => [`Deleted ${deleted}. Its name stays reserved.`],
  }),
  'org members': endpointList('listMembers', {
    description: 'List the members of an organisation and the invited users.',
    words: { NAME: 'organisation' },
    rows: 'members',
    toLines: ({ username, role, status, byGroup }) => `${username}  ${role}  ${byGroup ? 'by a group' : status}`,
  }),
  'org invite': endpointCommand('putMember', {
    description: 'Invite a user to an organisation with a role, or change the role of a member.',
    words: { NAME: 'organisation', USERNAME: 'username', ROLE: 'role' },
    show: ({ username, role, status }) => [
      status === 'accepted'
        ? `${username} has the role ${role} now.`
        : `Invited ${username} as ${role}. The user joins with \`skillstead org accept\`.`,
    ],
  }),
  'org accept': apiCommand({
    description: 'Accept an invitation to an organisation. Without NAME, list the invitations.',
    words: ['[NAME]'],
    options: { decline: { help: 'decline instead' } },
    actor: 'invited user',
    async call(api, given) {
      const [organisation] = given.words
      if (organisation === undefined) return api.listMemberInvitations({})
      if (!flag(given, 'decline')) return { organisation, ...(await api.acceptMembership({ organisation })) }
      const { username } = await api.getMe({})
      await api.deleteMember({ organisation, username })
      return { organisation, declined: true }
    },
    show(result) {
      if ('invitations' in result)
        return [
          ...result.invitations.map(({ organisation, role }) => `${organisation}  ${role}`),
          `${result.total} to accept.`,
        ]
      const { organisation } = result
      return [
        'role' in result ? `You are a member of ${organisation} now: ${result.role}.` : `Declined ${organisation}.`,
      ]
    },
  }),
  'org remove': apiCommand({
    description: 'Remove a member, or withdraw an invitation; with your own name, leave.',
    words: ['NAME', 'USERNAME'],
    actor,
    async call(api, given) {
      const [organisation, username] = given.words
      await api.deleteMember({ organisation, username })
      return { organisation, removed: username }
    },
    show: ({ organisation, removed }) => [`${removed} is no member of ${organisation} any more.`],
  }),
  'org teams': endpointList('listTeams', {
    description: 'List the teams of an organisation with their members and their roles on skills.',
    words: { NAME: 'organisation' },
    rows: 'teams',
    toLines: toTeamLines,
  }),
  'org team': apiCommand({
    description: 'Create a team, or replace its members or skills.',
    words: ['NAME', 'TEAM'],
    options: {
      members: { value: 'LIST', help: 'the usernames, separated by commas' },
      skills: {
        value: 'LIST',
        help: `the skills with the role of the team (${teamRoles.join(', ')}), as in tool=publisher`,
      },
      delete: { help: 'delete the team' },
    },
    actor,
    async call(api, given) {
      const [organisation, team] = given.words
      if (flag(given, 'delete')) return api.deleteTeam({ organisation, team }).then(() => ({ deleted: team }))
      const members = textOption(given, 'members')
      const skills = textOption(given, 'skills')
      return api.putTeam({
        organisation,
        team,
        ...(members !== undefined && { members: toList(members) }),
        ...(skills !== undefined && { skills: toList(skills).map(toTeamSkill) }),
      })
    },
    show: (result) => ('deleted' in result ? [`Deleted the team ${result.deleted}.`] : toTeamLines(result)),
  }),
}

function toList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

function toTeamSkill(text: string): Team['skills'][number] {
  const [name = '', given = 'reader'] = text.split('=')
  const role = teamRoles.find((one) => one === given)
  if (role) return { name, role }
  throw new UsageError(`'${given}' is no role of a team. The roles are ${teamRoles.join(', ')}.`)
}

function toTeamLines({ name, members, skills }: Team): string[] {
  return [
    name,
    `  members: ${members.join(', ') || 'none'}`,
    `  skills: ${skills.map((skill) => `${skill.name}=${skill.role}`).join(', ') || 'none'}`,
  ]
}

function toCounts({ members, teams, skills }: Organisation['counts']): string {
  return `members: ${members}, teams: ${teams}, skills: ${skills}`
}
