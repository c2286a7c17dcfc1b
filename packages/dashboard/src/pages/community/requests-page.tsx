import '../../styles/requests.css'
import { useState } from 'preact/hooks'
import { useAddress, toAddress } from '../../addresses.ts'
import { Page, toPageNumber, ItemList } from '../../ui/page.tsx'
import { RequestView, statusTitles, type Status, Vote, RequestFacts } from './request-view.tsx'
import { useLocation } from 'preact-iso'
import { api, useKeptData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, TextArea, useAction, Select, type Fields } from '../../ui/form.tsx'
import { SignInLink, SignInTo } from '../../ui/sign-in-link.tsx'
import { LinkButton, UserText, NameHeading } from '../../ui/parts.tsx'
import { Tabs } from '../../ui/tabs.tsx'

/** Skill requests: the list, one in full (`id`), or a new one (`new`, with its title). */
export default function RequestsPage() {
  const { fields } = useAddress()
  const [filed, setFiled] = useState<string>()
  if (fields.new !== undefined) {
    return (
      <Page title="Ask for a skill">
        <NewRequest title={fields.new.slice(0, 200)} filed={setFiled} />
      </Page>
    )
  }
  if (fields.id) {
    return <RequestView key={fields.id} id={fields.id} isNew={filed === fields.id} />
  }
  return (
    <Page
      title="Requests"
      hint="Skills that users miss. Votes show authors what to write next."
      aside={<LinkButton href="/requests?new=">Ask for a skill</LinkButton>}
    >
      <RequestList />
    </Page>
  )
}

/** Creates a skill request. Only an administrator can close a request of a guest. */
function NewRequest({ title, filed }: { title: string; filed: (id: string) => void }) {
  const me = useMe()
  const { route } = useLocation()
  const action = useAction(async (fields: Fields) => {
    const { id } = await api.createRequest({ title: fields.title!.trim(), description: fields.description!.trim() })
    filed(id)
    route(toAddress('/requests', { id }), true)
  })
  return (
    <>
      <p>
        Describe what an agent should be able to do. <a href="/">Search first</a>: the skill may exist under another
        name.
      </p>
      {me === null && (
        <p class="faint">
          You are not signed in, so this is a guest request: only an administrator can close it later.{' '}
          <SignInLink>Sign in</SignInLink>
        </p>
      )}
      <Form action={action} submit="Ask for this skill">
        <Field label="Title" name="title" required maxLength={200} dir="auto" defaultValue={title} autocomplete="off" />
        <TextArea label="Description" name="description" rows={6} maxLength={10_000}>
          Describe the input, the output, and the tool or format. The request is public.
        </TextArea>
      </Form>
    </>
  )
}

const sorts = [
  ['votes', 'Most votes'],
  ['recent', 'Newest'],
] as const
const statuses = Object.entries(statusTitles) as [Status, string][]

/** The requests, sorted and filtered by the address. */
function RequestList() {
  const { fields, change } = useAddress()
  const sort = fields.sort === 'recent' ? 'recent' : 'votes'
  const status = statuses.find(([known]) => known === fields.status)?.[0]
  const wanted = { sort, status, page: toPageNumber(fields.page), limit: 20 } as const
  const found = useKeptData(['requests', wanted], () => api.listRequests(wanted))
  const tabs = sorts.map(([name, title]) => ({
    href: toAddress('/requests', { status, sort: name === 'votes' ? undefined : name }),
    title,
    current: name === sort,
  }))
  return (
    <>
      <Tabs label="Order" tabs={tabs} />
      <div class="filters">
        <Select
          label="Status"
          name="status"
          value={status ?? ''}
          options={[['', 'All'], ...statuses]}
          onChange={(value) => change({ status: value, page: undefined })}
        />
        <SignInTo class="faint">vote</SignInTo>
      </div>
      <ItemList of={found} class="requests" items="requests" empty={<NoRequests status={status} />}>
        {(request) => (
          <li key={request.id}>
            <Vote request={request} />
            <div>
              <NameHeading href={toAddress('/requests', { id: request.id })} name={request.title} />
              <UserText class="clamped">{request.description}</UserText>
              <RequestFacts request={request} />
            </div>
          </li>
        )}
      </ItemList>
    </>
  )
}

function NoRequests({ status }: { status: Status | undefined }) {
  if (status) {
    return (
      <>
        <h2>No requests are {statusTitles[status].toLowerCase()}</h2>
        <p>
          <a href="/requests">Show all requests</a>
        </p>
      </>
    )
  }
  return (
    <>
      <h2>No requests yet</h2>
      <p>
        <a href="/requests?new=">Request a skill</a>, or <a href="/">search the existing ones</a>.
      </p>
    </>
  )
}
