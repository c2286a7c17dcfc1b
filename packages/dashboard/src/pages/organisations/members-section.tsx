import { type Member, type MemberRole, memberRoles } from '@skillstead/protocol'
import { api } from '../../api.ts'
import { mayDo, type SectionProps } from '../../organisations.ts'
import { useMe } from '../../session.ts'
import { ActionButton, ActionSelect, ConfirmButton, Field, Form, Select, choice, type Fields } from '../../ui/form.tsx'
import { type Column, DataTable, toNameColumn, usePaged } from '../../ui/page.tsx'
import { Badge, UserLink } from '../../ui/parts.tsx'

const roleWords: Readonly<Record<MemberRole, string>> = {
  owner: 'may do everything',
  admin: 'manages members, teams, rules and skills',
  publisher: 'publishes skills and versions',
  reviewer: 'approves versions',
  reader: 'reads internal skills',
}

/** The members of an organisation and the invited users, with their roles. */
export function MembersSection({ organisation: { name: organisation, role }, mayAdminister }: SectionProps) {
  const found = usePaged(['organisation', organisation, 'members'], (page) =>
    api.listMembers({ organisation, page, limit: 50 }),
  )
  const me = useMe()!
  // Only owners and administrators of the node can give the role of an owner.
  const roles = memberRoles.filter((one) => one !== 'owner' || mayDo(role, 'own') || me.role === 'admin')
  // If a group of the identity provider gave the role, the provider would undo a change.
  const isFree = (member: Member) => !member.byGroup || me.role === 'admin'
  const mayChange = (member: Member) => mayAdminister && roles.includes(member.role) && isFree(member)
  const invite = ({ username = '', role: given }: Fields) =>
    api.putMember({ organisation, username, role: choice(roles, given) })
  const columns: readonly Column<Member>[] = [
    toNameColumn('User', ({ username }) => username, UserLink),
    {
      title: 'Role',
      by: (member) => memberRoles.indexOf(member.role),
      cell: (member) =>
        mayChange(member) ? (
          <ActionSelect
            label={`Role of ${member.username}`}
            value={member.role}
            options={roles}
            work={(to) => api.putMember({ organisation, username: member.username, role: to })}
          />
        ) : (
          member.role
        ),
    },
    { title: 'May', cell: (member) => roleWords[member.role] },
    {
      title: 'State',
      cell: ({ status, byGroup }) =>
        status === 'invited' ? <Badge tone="fair">invited</Badge> : byGroup && <Badge>by a group</Badge>,
    },
    {
      title: 'Action',
      cell: (member) => {
        const isSelf = member.username === me.username
        if (isSelf ? !isFree(member) : !mayChange(member)) return null
        const remove = () => api.deleteMember({ organisation, username: member.username })
        if (member.status === 'invited') return <ActionButton work={remove}>Withdraw</ActionButton>
        return (
          <ConfirmButton
            action={isSelf ? 'Leave' : 'Remove'}
            title={isSelf ? `Leave ${organisation}?` : `Remove ${member.username}?`}
            work={remove}
            leadsTo={isSelf ? '/account' : undefined}
          >
            <p>
              {isSelf ? 'You lose' : `${member.username} loses`} access to its internal and private skills, and every
              role in its teams.
            </p>
          </ConfirmButton>
        )
      },
    },
  ]
  return (
    <>
      <DataTable of={found} items="members" label="Members" columns={columns} rowKey="username" />
      {mayAdminister && found.data && (
        <Form card="Invite a member" work={invite} submit="Invite" done="Invited. Membership begins on acceptance.">
          <Field label="User" name="username" required maxLength={39} />
          <Select
            label="Role"
            name="role"
            value="reader"
            options={roles.map((one) => [one, `${one}: ${roleWords[one]}`] as const)}
          />
        </Form>
      )}
    </>
  )
}
