import { api, useData } from '../../api.ts'
import { addresses, toAddress, useAddress, nodeUrl } from '../../addresses.ts'
import { mayDo, useOwners, useRoleFor } from '../../organisations.ts'
import { useMe } from '../../session.ts'
import { SearchField, Field, Form, Select, TextArea, choice, type Fields, ConfirmButton } from '../../ui/form.tsx'
import { Page, toPageNumber, ItemList, LoadedPage } from '../../ui/page.tsx'
import { Count, Time, toCount, NameHeading, By, Badge, Copyable, Empty, UserLink } from '../../ui/parts.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { useLocation, useRoute } from 'preact-iso'
import { SkillList } from '../../ui/skill-list.tsx'

/** The packs, or the pack that the address names. */
export default function PacksPages() {
  const { slug } = useRoute().params
  return slug === undefined ? <PacksPage /> : <PackPage slug={slug} />
}

/** Packs: collections of skills for one purpose. */
function PacksPage() {
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
  return query ? (
    <>
      No pack matches <q>{query}</q>. Try fewer words.
    </>
  ) : curator !== undefined ? (
    <>
      <bdi>{curator}</bdi> has no packs that you can see.
    </>
  ) : isGuest ? (
    <>
      There are no packs yet. <SignInLink>Sign in</SignInLink> to create the first.
    </>
  ) : (
    <>There are no packs yet. Create the first with the button above.</>
  )
}

/** Creates a pack; its skills are named one per line. */
function NewPack() {
  const { route } = useLocation()
  const owners = useOwners()
  const create = async (fields: Fields) => {
    const { slug } = await api.createPack({
      name: fields.name!,
      slug: fields.slug || undefined,
      description: fields.description ?? '',
      skills: toMembers(fields.skills ?? ''),
      visibility: choice(visibilityOptions, fields.visibility),
      owner: fields.owner || undefined,
    })
    route(addresses.pack(slug))
  }
  return (
    <Form card="Create a pack" work={create} submit="Create pack">
      {owners.length > 1 && <Select label="Owner" name="owner" options={owners} />}
      <Field label="Name" name="name" required maxLength={100} />
      <Field label="Slug" name="slug" pattern="[a-z0-9\-]+" hint="Part of its URL. Empty: derived from the name." />
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

/** The size of the listing of a pack, and whether it fits the context of an agent. */
const Budget = ({ of: { fits, listingCharacters } }: { of: Pack['budget'] }) => (
  <Badge tone={fits ? 'good' : 'fair'}>
    {listingCharacters.toLocaleString('en')} characters, {fits ? 'fits the context' : 'over the budget'}
  </Badge>
)

/** The size of the listing of a pack as a bar, with an explanation. */
const BudgetBar = ({ of: { fits, listingCharacters } }: { of: Pack['budget'] }) => (
  <section class="card">
    <h2>Context budget</h2>
    <meter
      min={0}
      max={listingCharactersMax}
      high={listingCharactersMax * 0.9}
      value={Math.min(listingCharacters, listingCharactersMax)}
      aria-label="Share of the context budget"
    />
    <p>
      The names and descriptions take {listingCharacters.toLocaleString('en')} of the{' '}
      {listingCharactersMax.toLocaleString('en')} characters that hosts reserve for their list of skills.{' '}
      {fits
        ? 'An agent sees all of them.'
        : 'An agent will not see all of them: remove skills, or shorten descriptions.'}
    </p>
  </section>
)

const visibilityOptions = [
  ['public', 'Public: all users and guests'],
  ['internal', 'Internal: users of this node'],
  ['private', 'Private: only you, or members of its organisation above reader'],
] as const

/** Parses lines of `owner/name` or `owner/name@version`. */
function toMembers(text: string) {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter(Boolean).map((line) => {
    const [name = '', version] = line.split('@')
    return { name, version: version || undefined }
  })
}

/** The members of a pack as lines of `owner/name` or `owner/name@version`. */
const toMemberLines = (skills: Pack['skills']): string =>
  skills.map(({ fullName, pinnedVersion }) => (pinnedVersion ? `${fullName}@${pinnedVersion}` : fullName)).join('\n')

/** One pack: its skills, install commands, and context budget. */
function PackPage({ slug }: { slug: string }) {
  const found = useData(['pack', slug], () => api.getPack({ slug }))
  return (
    <LoadedPage title={slug} of={found}>
      {(pack) => (
        <Page title={pack.name} aside={<Change pack={pack} />}>
          <p dir="auto">{pack.description}</p>
          <p class="facts">
            {pack.visibility !== 'public' && <Badge>{pack.visibility}</Badge>}
            <span>
              Pack by <UserLink name={pack.curator.username} />
            </span>
            <Count of={pack.skills.length} unit="skill" />
            <Time at={pack.updatedAt} verb="changed" />
          </p>
          <div class="side-by-side">
            <section aria-label="Skills of the pack">
              {pack.skills.length === 0 ? (
                <Empty>This pack has no skills that you can see.</Empty>
              ) : (
                <SkillList skills={pack.skills} notes={pack.skills.map(toMemberNote)} />
              )}
            </section>
            <aside>
              <section class="card">
                <h2>Install</h2>
                {pack.visibility === 'public' && <Copyable text={`npx skills add ${nodeUrl}/packs/${slug}`} />}
                <Copyable text={`skillstead install pack:${slug} --url ${nodeUrl}`} />
              </section>
              <BudgetBar of={pack.budget} />
            </aside>
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const toMemberNote = ({ pinnedVersion, note }: Pack['skills'][number]): string =>
  [pinnedVersion && `Pinned to ${pinnedVersion}.`, note].filter(Boolean).join(' ')

/** A form that changes a pack, for users who may publish as its owner. */
function Change({ pack }: { pack: Pack }) {
  const role = useRoleFor(pack.curator.username)
  const mayManage = mayDo(role, 'manage')
  const { slug, skills } = pack
  const notes = new Map(skills.map(({ fullName, note }) => [fullName, note || undefined]))
  const change = (fields: Fields) =>
    api.updatePack({
      slug,
      name: fields.name,
      description: fields.description,
      // The form has no field for notes, so skills that stay in the pack keep theirs.
      skills: toMembers(fields.skills ?? '').map((member) => ({ ...member, note: notes.get(member.name) })),
      visibility: fields.visibility ? choice(visibilityOptions, fields.visibility) : undefined,
    })
  if (!mayDo(role, 'publish')) return null
  return (
    <details class="card">
      <summary>Change this pack</summary>
      <Form work={change} submit="Save">
        <Field label="Name" name="name" required maxLength={100} defaultValue={pack.name} />
        <TextArea label="Description" name="description" maxLength={2000} value={pack.description} />
        <TextArea label="Skills" name="skills" rows={8} value={toMemberLines(skills)}>
          One per line: owner/name, with @1.2.0 appended to pin a version.
        </TextArea>
        {mayManage && (
          <Select label="Visibility" name="visibility" value={pack.visibility} options={visibilityOptions} />
        )}
      </Form>
      {mayManage && (
        <ConfirmButton
          action="Delete the pack"
          title={
            <>
              Delete <bdi>{pack.name}</bdi>?
            </>
          }
          work={() => api.deletePack({ slug })}
          leadsTo="/packs"
        >
          <p>The skills themselves stay. This cannot be undone.</p>
        </ConfirmButton>
      )}
    </details>
  )
}
