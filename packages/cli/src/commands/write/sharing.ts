import type { RegistryApi } from '@skillstead/protocol'
import { UsageError, flag, textOption, type Arguments } from '../../command/command.ts'
import { choice } from '../../command/values.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { findUrl } from '../../registry/place.ts'

const actor = "skill's owner"
const roles = ['read', 'write'] as const

type Invited = Awaited<ReturnType<RegistryApi['putCollaborator']>>

export const commands = {
  share: apiCommand({
    description: 'Create a link that lets anyone who has it read and install a private skill. It is shown only once.',
    words: ['NAME'],
    options: {
      'expires-in-days': { value: 'N', help: 'the number of days until the link expires, at most 365. Default: 7' },
      list: { help: 'list the links of the skill' },
      revoke: { value: 'ID', help: 'revoke a link' },
    },
    actor,
    async call(api, given) {
      const [name] = given.words
      const [days, id] = [textOption(given, 'expires-in-days'), textOption(given, 'revoke')]
      requireOneAction(given, ['list', 'revoke', 'expires-in-days'])
      if (flag(given, 'list')) return { name, ...(await api.listShares({ name })) }
      if (id !== undefined) return api.deleteShare({ name, id }).then(() => ({ name, revoked: id }))
      const share = await api.createShare({ name, ...(days !== undefined && { expiresInDays: days }) })
      const url = findUrl(given)
      return { name, ...share, ...(url !== undefined && { url: `${url.replace(/\/+$/, '')}/t/${share.token}` }) }
    },
    show(result) {
      const { name } = result
      if ('revoked' in result) return [`The link ${result.revoked} of ${name} no longer works.`]
      if ('shares' in result)
        return [
          ...result.shares.map(({ id, expiresAt }) => `${id}  expires ${expiresAt}`),
          `${result.shares.length} of ${result.total}.`,
        ]
      const { token, url, expiresAt } = result
      return [
        `Link to ${name}, shown only once; it works until ${expiresAt}:`,
        // A registry in a folder does not know the address of its node.
        url ?? `NODE_URL/t/${token}`,
        url === undefined
          ? 'Write the address of the node that serves this registry in place of NODE_URL.'
          : `Install with: npx skills add ${url}`,
      ]
    },
  }),
  invite: apiCommand({
    description:
      'Invite a user to read a private skill, or to publish to it. Without USERNAME, list the collaborators.',
    words: ['NAME', '[USERNAME]'],
    options: {
      role: { value: 'ROLE', help: 'what the user may do. Default: read', choices: roles },
      remove: { help: 'end the collaboration, or withdraw the invitation' },
    },
    actor,
    async call(api, given): Promise<{ name: string; removed?: string; collaborators?: readonly Invited[] }> {
      const [name, username] = given.words
      const role = choice(textOption(given, 'role'), roles, 'role')
      requireOneAction(given, ['role', 'remove'])
      if (username === undefined) {
        if (role !== undefined || flag(given, 'remove')) throw new UsageError('The username is missing.')
        return { name, collaborators: (await api.listCollaborators({ name })).collaborators }
      }
      if (!flag(given, 'remove'))
        return { name, collaborators: [await api.putCollaborator({ name, username, role: role ?? 'read' })] }
      await api.deleteCollaborator({ name, username })
      return { name, removed: username }
    },
    show: ({ name, removed, collaborators = [] }) =>
      removed === undefined
        ? collaborators.length === 0
          ? [`${name} has no collaborators.`]
          : collaborators.map(({ username, role, status }) => `${username}  ${role}  ${status}`)
        : [`${removed} no longer collaborates on ${name}.`],
  }),
  accept: apiCommand({
    description:
      'Accept an invitation to collaborate on a skill, or a skill that its owner transfers to you. Without NAME, list both.',
    words: ['[NAME]'],
    options: { decline: { help: 'decline instead' } },
    actor: 'invited user',
    async call(api, given) {
      const [word] = given.words
      const decline = flag(given, 'decline')
      const [{ username }, { transfers }, { invitations }] = await Promise.all([
        api.getMe(),
        api.listTransfers({}),
        api.listInvitations({}),
      ])
      const offered = transfers.filter(({ newOwner }) => newOwner === username)
      if (word === undefined) {
        if (decline) throw new UsageError('The name of the skill is missing.')
        return { transfers: offered, invitations }
      }
      const name = toOfferedName([...offered, ...invitations], word)
      if (offered.some(({ fullName }) => fullName === name)) {
        if (decline) await api.cancelTransfer({ name })
        const fullName = decline ? name : (await api.acceptTransfer({ name })).fullName
        return { name: fullName, accepted: !decline, role: 'owner' }
      }
      if (decline) await api.deleteCollaborator({ name, username })
      const role = decline ? null : (await api.acceptCollaboration({ name })).role
      return { name, accepted: !decline, role }
    },
    show(result) {
      if ('accepted' in result)
        return [result.accepted ? `You are now ${toRoleText(result.role)} ${result.name}.` : `Declined ${result.name}.`]
      const { transfers, invitations } = result
      return [
        ...transfers.map(({ fullName }) => `${fullName}  transfer: you become its owner`),
        ...invitations.map(({ fullName, owner, role }) => `${fullName}  invitation of ${owner}: ${role}`),
        `${transfers.length + invitations.length} to accept.`,
      ]
    },
  }),
  transfer: apiCommand({
    description: 'Offer a skill to another user, who becomes its owner with `skillstead accept`.',
    words: ['NAME', '[USERNAME]'],
    options: { cancel: { help: 'withdraw the offer' } },
    actor,
    async call(api, given) {
      const [name, newOwner] = given.words
      if (flag(given, 'cancel') === (newOwner !== undefined)) throw new UsageError('Pass USERNAME or --cancel.')
      if (newOwner !== undefined) return api.transferSkill({ name, newOwner })
      await api.cancelTransfer({ name })
      return { fullName: name, newOwner: null }
    },
    show: ({ fullName, newOwner }) => [
      newOwner === null
        ? `${fullName} stays yours.`
        : `Offered ${fullName} to ${newOwner}, who accepts it with \`skillstead accept ${fullName}\`.`,
    ],
  }),
}

/**
 * The full name of the offered skill that a word names, which may be a short name. Throws if several offered skills
 * have the name.
 */
function toOfferedName(offers: readonly { readonly fullName: string }[], word: string): string {
  const names = [...new Set(offers.map(({ fullName }) => fullName))].filter((name) => name.endsWith(`/${word}`))
  if (names.length < 2) return names[0] ?? word
  throw new Error(`Several skills with the name '${word}' are offered to you. Pass one of ${names.join(', ')}.`)
}

function toRoleText(role: string | null): string {
  if (role === 'owner') return 'the owner of'
  return role === 'write' ? 'a writer of' : 'a reader of'
}

function requireOneAction(given: Arguments, names: readonly string[]): void {
  const passed = names.filter((name) => given.options[name] !== undefined && given.options[name] !== false)
  if (passed.length > 1) throw new UsageError(`Pass only one of ${passed.map((name) => `--${name}`).join(' and ')}.`)
}
