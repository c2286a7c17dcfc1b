import { type Team, teamRoles } from '@skillstead/protocol'
import type { ComponentChildren } from 'preact'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { ActionButton, ConfirmButton, Field, Form, Select, choice, type Fields } from '../../ui/form.tsx'
import { ItemList, usePaged } from '../../ui/page.tsx'
import { NameLink, UserLink } from '../../ui/parts.tsx'
import type { SectionProps } from '../../organisations.ts'

/** The teams of an organisation: each gives its members one more role, on some skills. */
export function TeamsSection({ organisation: { name: organisation }, mayAdminister }: SectionProps) {
  const found = usePaged(['organisation', organisation, 'teams'], (page) => api.listTeams({ organisation, page }))
  return (
    <>
      <ItemList
        of={found}
        items="teams"
        label="Teams"
        empty="No teams. A team gives its members one more role, on some skills of the organisation only."
      >
        {(team) => (
          <li key={team.name}>
            <h2>{team.name}</h2>
            <TeamParts organisation={organisation} team={team} mayAdminister={mayAdminister} />
          </li>
        )}
      </ItemList>
      {mayAdminister && found.data && (
        <Form
          card="Create a team"
          work={({ team = '' }) => api.putTeam({ organisation, team })}
          submit="Create the team"
        >
          <Field label="Team name" name="team" required maxLength={64} pattern="[a-z0-9]+(-[a-z0-9]+)*" />
        </Form>
      )}
    </>
  )
}

function TeamParts(props: { organisation: string; team: Team; mayAdminister: boolean }) {
  const { organisation, team, mayAdminister } = props
  const { name, members, skills } = team
  type Change = Omit<Parameters<typeof api.updateTeam>[0], 'organisation' | 'team'>
  const update = (change: Change) => api.updateTeam({ organisation, team: name, ...change })
  const addSkill = ({ skill = '', role }: Fields) =>
    update({ add: { skills: [{ name: skill, role: choice(teamRoles, role) }] } })
  const item = (children: ComponentChildren, what: string, remove: Change['remove']) => (
    <li key={what} class="row">
      {children}
      {mayAdminister && (
        <ActionButton danger work={() => update({ remove })}>
          Remove {what}
        </ActionButton>
      )}
    </li>
  )
  return (
    <>
      <div class="halves">
        <section aria-label={`Members of ${name}`}>
          <h3>Members</h3>
          {members.length === 0 && <p class="faint">No members.</p>}
          <ul class="plain">{members.map((one) => item(<UserLink name={one} />, one, { members: [one] }))}</ul>
          {mayAdminister && (
            <Form work={({ username = '' }) => update({ add: { members: [username] } })} submit="Add the member">
              <Field label="Member of the organisation" name="username" required />
            </Form>
          )}
        </section>
        <section aria-label={`Skills of ${name}`}>
          <h3>Skills</h3>
          {skills.length === 0 && <p class="faint">No skills.</p>}
          <ul class="plain">
            {skills.map((one) =>
              item(
                <span>
                  <NameLink href={addresses.skill(`${organisation}/${one.name}`)} name={one.name} /> as {one.role}
                </span>,
                one.name,
                { skills: [one.name] },
              ),
            )}
          </ul>
          {mayAdminister && (
            <Form work={addSkill} submit="Give the role">
              <Field label="Skill" name="skill" required hint="Its name without the organisation." />
              <Select label="Role" name="role" value="reader" options={teamRoles} />
            </Form>
          )}
        </section>
      </div>
      {mayAdminister && (
        <ConfirmButton
          action={`Delete ${name}`}
          title={`Delete the team ${name}?`}
          work={() => api.deleteTeam({ organisation, team: name })}
        >
          <p>Its members stay in the organisation, and lose the roles that the team gave them.</p>
        </ConfirmButton>
      )}
    </>
  )
}
