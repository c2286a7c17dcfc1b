import { useLocation } from 'preact-iso'
import { addresses } from '../../addresses.ts'
import { api } from '../../api.ts'
import { useOrganisations } from '../../organisations.ts'
import { Field, Form, type Fields } from '../../ui/form.tsx'
import { ItemList } from '../../ui/page.tsx'
import { Badge, NameLink, toCount } from '../../ui/parts.tsx'

/** The organisations of the signed-in user, and a form that creates one. */
export function OrganisationList() {
  const { route } = useLocation()
  const found = useOrganisations()
  const create = async ({ name = '', displayName }: Fields) => {
    await api.createOrganisation({ name, displayName: displayName || undefined })
    route(addresses.organisation(name))
  }
  return (
    <section aria-labelledby="organisations">
      <h2 id="organisations">Organisations</h2>
      <ItemList
        of={found}
        items="organisations"
        empty="You are in no organisation. An organisation owns skills in place of a person, with roles for its members and approval before publishing."
      >
        {({ name, role, counts }) => (
          <li key={name} class="row">
            <strong>
              <NameLink href={addresses.organisation(name)} name={name} />
            </strong>
            {role && <Badge>{role}</Badge>}
            <span class="faint">
              {toCount(counts.members, 'member')}, {toCount(counts.skills, 'skill')}
            </span>
          </li>
        )}
      </ItemList>
      <Form card="Create an organisation" work={create} submit="Create">
        <Field label="Organisation name" name="name" required maxLength={39} pattern="[a-z0-9]+(-[a-z0-9]+)*">
          Lower-case letters, digits and hyphens. Its skills are NAME/SKILL.
        </Field>
        <Field label="Name to show" name="displayName" maxLength={200} />
      </Form>
    </section>
  )
}
