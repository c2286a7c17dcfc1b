import { api, useData } from '../../api.ts'
import { addresses, toAddress, useAddress } from '../../addresses.ts'
import { mayDo, useOrganisations } from '../../organisations.ts'
import { useMe } from '../../session.ts'
import { SearchField, Field, Form, Select, TextArea, useAction, type Fields } from '../../ui/form.tsx'
import { Page, toPageNumber, ItemList } from '../../ui/page.tsx'
import { Count, Time, toCount, NameHeading, By, Badge } from '../../ui/parts.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { useLocation } from 'preact-iso'

/** Packs: collections of skills for one purpose. */
export default function PacksPage() {
  const { fields, change } = useAddress()
  const me = useMe()
  const wanted = { q: fields.q ?? '', curator: fields.curator || undefined, page: toPageNumber(fields.page), limit: 20 }
  const found = useData(['packs', wanted], () => api.listPacks(wanted))
  return (
    <Page
      title="Packs"
      hint="Collections of skills for one purpose, which are installed together."
      aside={me && <NewPack />}
    >
      <SearchField label="Search packs" value={wanted.q} onChange={(q) => change({ q, page: undefined }, true)} />
      {wanted.curator && (
        <p class="facts">
          <span>
            Of <bdi>{wanted.curator}</bdi> only.
          </span>
          <a href={toAddress('/packs', { q: wanted.q })}>Show all packs</a>
        </p>
      )}
      <ItemList
        of={found}
        items="packs"
        label={found.data && toCount(found.data.total, 'pack')}
        empty={<NoPacks query={wanted.q} curator={wanted.curator} />}
      >
        {(pack) => (
          <li key={pack.slug}>
            <NameHeading href={addresses.pack(pack.slug)} name={pack.name} />
            <p dir="auto">{pack.description}</p>
            <p class="facts">
              <By name={pack.curator.username} />
              <Count of={pack.skillCount} unit="skill" />
              <Budget of={pack.budget} />
              <Time at={pack.updatedAt} verb="changed" />
            </p>
          </li>
        )}
      </ItemList>
    </Page>
  )
}

function NoPacks({ query, curator }: { query: string; curator?: string }) {
  const isGuest = useMe() === null
  if (query) {
    return (
      <>
        No pack matches <q>{query}</q>. Try fewer words.
      </>
    )
  }
  if (curator === undefined) {
    return (
      <>
        There are no packs yet.{' '}
        {isGuest ? (
          <>
            <SignInLink>Sign in</SignInLink> to create the first.
          </>
        ) : (
          'Create the first with the button above.'
        )}
      </>
    )
  }
  return (
    <>
      <bdi>{curator}</bdi> has no packs that you can see.
    </>
  )
}

/** Creates a pack; its skills are named one per line. */
function NewPack() {
  const { route } = useLocation()
  const me = useMe()!
  const owners = useOrganisations().data?.organisations.filter(({ role }) => mayDo(role, 'publish')) ?? []
  const action = useAction(async (fields: Fields) => {
    const { slug } = await api.createPack({
      name: fields.name!,
      slug: fields.slug || undefined,
      description: fields.description ?? '',
      skills: toMembers(fields.skills ?? ''),
      visibility: fields.visibility as Visibility,
      owner: fields.owner || undefined,
    })
    route(addresses.pack(slug))
  })
  return (
    <Form card="Create a pack" action={action} submit="Create pack">
      {owners.length > 0 && (
        <Select
          label="Owner"
          name="owner"
          options={[
            ['', `${me.username}, you`],
            ...owners.map(({ name, displayName }) => [name, displayName || name] as const),
          ]}
        />
      )}
      <Field label="Name" name="name" required maxLength={100} />
      <Field label="Slug" name="slug" pattern="[a-z0-9\-]+">
        Part of its URL. Empty: derived from the name.
      </Field>
      <TextArea label="Description" name="description" maxLength={2000} />
      <TextArea label="Skills" name="skills" rows={6}>
        One per line: owner/name, with @1.2.0 appended to pin a version.
      </TextArea>
      <Select label="Visibility" name="visibility" options={visibilityOptions} />
    </Form>
  )
}

type Pack = Awaited<ReturnType<typeof api.getPack>>

/** The size that agent hosts reserve for their list of skills, in characters of names and descriptions. */
const listingCharactersMax = 8000

/** The share of an agent's context that the listing of a pack takes. */
function Budget({ of }: { of: Pack['budget'] }) {
  const characters = of.listingCharacters.toLocaleString('en')
  if (of.fits) return <Badge tone="good">{characters} characters, fits the context</Badge>
  return <Badge tone="fair">{characters} characters, over the budget</Badge>
}

/** The context share of a pack as a bar, with an explanation. */
export function BudgetBar({ of }: { of: Pack['budget'] }) {
  const max = listingCharactersMax.toLocaleString('en')
  return (
    <section class="card">
      <h2>Context budget</h2>
      <meter
        min={0}
        max={listingCharactersMax}
        high={listingCharactersMax * 0.9}
        value={Math.min(of.listingCharacters, listingCharactersMax)}
        aria-label="Share of the context budget"
      />
      <p>
        The names and descriptions take {of.listingCharacters.toLocaleString('en')} of the {max} characters that hosts
        reserve for their list of skills.{' '}
        {of.fits
          ? 'An agent sees all of them.'
          : 'An agent will not see all of them: remove skills, or shorten descriptions.'}
      </p>
    </section>
  )
}

export type Visibility = Pack['visibility']

export const visibilityOptions = [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: only you, or members of its organisation above reader'],
] as const

/** Parses lines of `owner/name` or `owner/name@version`. */
export function toMembers(text: string): { name: string; version?: string }[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [name = '', version] = line.split('@')
    return version ? { name, version } : { name }
  })
}

/** The members of a pack as lines of `owner/name` or `owner/name@version`. */
export function toMemberLines(skills: Pack['skills']): string {
  return skills
    .map(({ fullName, pinnedVersion }) => (pinnedVersion ? `${fullName}@${pinnedVersion}` : fullName))
    .join('\n')
}
