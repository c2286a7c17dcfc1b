import '../../styles/requests.css'
import { entriesOf } from '@skillstead/protocol'
import { useState } from 'preact/hooks'
import { useAddress, toAddress } from '../../addresses.ts'
import { Page, usePage, ItemList, Shown } from '../../ui/page.tsx'
import { useLocation } from 'preact-iso'
import { api, useKeptData, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Field, Form, TextArea, useAction, type Fields, ActionButton, Outcome, unlessBusy } from '../../ui/form.tsx'
import { SignInLink, SignInTo } from '../../ui/sign-in-link.tsx'
import { LinkButton, UserText, NameHeading, Badge, Notice, Time, UserLink } from '../../ui/parts.tsx'
import { useFilter, useTabs } from '../../ui/address-choice.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { ThumbsUp } from 'lucide'
import { Icon } from '../../ui/icon.tsx'

/** The list of skill requests; with `id` in the address one request, with `new` a form for a request of that title. */
export default function RequestsPage() {
  const { fields } = useAddress()
  const [filed, setFiled] = useState<string>()
  if (fields.new !== undefined) return <NewRequest title={fields.new.slice(0, 200)} filed={setFiled} />
  if (fields.id) return <RequestView key={fields.id} id={fields.id} isNew={filed === fields.id} />
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
  const create = async (fields: Fields) => {
    const { id } = await api.createRequest({ title: fields.title!.trim(), description: fields.description!.trim() })
    filed(id)
    route(toAddress('/requests', { id }), true)
  }
  return (
    <Page title="Ask for a skill">
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
      <Form work={create} submit="Ask for this skill">
        <Field label="Title" name="title" required maxLength={200} dir="auto" defaultValue={title} autocomplete="off" />
        <TextArea label="Description" name="description" rows={6} maxLength={10_000}>
          Describe the input, the output, and the tool or format. The request is public.
        </TextArea>
      </Form>
    </Page>
  )
}

const sorts = [
  ['votes', 'Most votes'],
  ['recent', 'Newest'],
] as const

/** The requests, sorted and filtered by the address. */
function RequestList() {
  const [sort, tabs] = useTabs('Order', 'sort', sorts)
  const [state, filter] = useFilter('Status', 'status', statuses)
  const status = state || undefined
  const wanted = { sort, status, page: usePage(), limit: 20 } as const
  const found = useKeptData(['requests', wanted], () => api.listRequests(wanted))
  return (
    <>
      {tabs}
      <div class="filters">
        {filter}
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

const NoRequests = ({ status }: { status: Status | undefined }) => (
  <>
    <h2>{status ? `No requests are ${statusTitles[status].toLowerCase()}` : 'No requests yet'}</h2>
    <p>
      {status ? (
        <a href="/requests">Show all requests</a>
      ) : (
        <>
          <a href="/requests?new=">Request a skill</a>, or <a href="/">search the existing ones</a>.
        </>
      )}
    </p>
  </>
)

/** One request in full, with the visitor's actions. */
function RequestView({ id, isNew }: { id: string; isNew: boolean }) {
  const me = useMe()
  const found = useData(['request', id], () => api.getRequest({ id }))
  return (
    <Page title={found.data?.title ?? 'Request'} aside={<a href="/requests">All requests</a>}>
      {isNew && <Notice>Your request is filed. Share this page: requests with more votes rank higher.</Notice>}
      <Shown of={found}>
        {(request) => (
          <div class="request">
            <Vote request={request} />
            <div>
              <RequestFacts request={request} />
              {request.description && <UserText class="description">{request.description}</UserText>}
              {me && <Progress request={request} me={me} />}
              {request.status !== 'fulfilled' && <SignInTo class="faint">vote, or to work on it</SignInTo>}
            </div>
          </div>
        )}
      </Shown>
    </Page>
  )
}

/**
 * The state changes that the node allows, except `fulfilled`, which requires a skill. Users other than administrators
 * and the author of the request may only set `in_progress`.
 */
const steps: Readonly<Record<Status, readonly (readonly [to: Status, title: string])[]>> = {
  open: [
    ['in_progress', 'Start working on this'],
    ['closed', 'Close'],
  ],
  in_progress: [
    ['open', 'Stop working on this'],
    ['closed', 'Close'],
  ],
  closed: [['open', 'Open again']],
  fulfilled: [],
}

const isWaiting = ({ status }: SkillRequest) => status === 'open' || status === 'in_progress'

/** The actions that the visitor can take on a request. */
function Progress({ request, me }: { request: SkillRequest; me: { username: string; role: string } }) {
  const { id, status } = request
  const isParty = me.role === 'admin' || request.requester?.username === me.username
  const open = steps[status].filter(([to]) => isParty || to === 'in_progress')
  if (open.length === 0) return null
  const fulfil = ({ skill = '' }: Fields) =>
    api.updateRequest({ id, status: 'fulfilled', fulfilledBy: skill.trim() || undefined })
  return (
    <section aria-label="Progress" class="progress">
      <div class="row">
        {open.map(([to, title]) => (
          <ActionButton key={to} work={() => api.updateRequest({ id, status: to })}>
            {title}
          </ActionButton>
        ))}
      </div>
      {isParty && isWaiting(request) && (
        <details>
          <summary>There is a skill for this now</summary>
          <Form work={fulfil} submit="Mark as fulfilled">
            <Field label="Skill" name="skill" placeholder="owner/name" autocomplete="off" maxLength={128}>
              A public skill that fulfils the request. This is final.
            </Field>
          </Form>
        </details>
      )}
    </section>
  )
}

type SkillRequest = Awaited<ReturnType<typeof api.getRequest>>
type Status = SkillRequest['status']

const statusTitles: Readonly<Record<Status, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  fulfilled: 'Fulfilled',
  closed: 'Closed',
}
const statuses = [['', 'All'], ...entriesOf(statusTitles)] as const

const votePagesMax = 5

/** The ids of the requests that the visitor voted for; empty for a guest, undefined until they are loaded. */
function useVotes(): ReadonlySet<string> | undefined {
  const me = useMe()
  const { data } = useData(['votes', me?.username], readVotes, Boolean(me))
  return me === null ? noVotes : data
}

const noVotes: ReadonlySet<string> = new Set()

/** Reads the latest 500 votes. Requests with an older vote look as if not voted for; voting again changes nothing. */
async function readVotes(): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (let page = 1; page <= votePagesMax; page++) {
    const { requests, totalPages } = await api.listVotes({ page, limit: 100 })
    for (const { id } of requests) ids.add(id)
    if (page >= totalPages) break
  }
  return ids
}

/** The number of votes; signed-in users can vote while the request is open. */
function Vote({ request }: { request: SkillRequest }) {
  const me = useMe()
  const votes = useVotes()
  const { id, title } = request
  const voted = votes?.has(id) ?? false
  const action = useAction(() => (voted ? api.withdrawRequestVote({ id }) : api.voteForRequest({ id })))
  const count = (
    <>
      {request.votes.toLocaleString('en')} <small>{request.votes === 1 ? 'vote' : 'votes'}</small>
    </>
  )
  if (!me || !votes || !isWaiting(request)) return <span class="vote">{count}</span>
  return (
    <div>
      <button type="button" class={voted ? 'vote voted' : 'vote'} aria-pressed={voted} {...unlessBusy(action)}>
        <span class="unseen">
          Vote for <bdi>{title}</bdi>:
        </span>
        <Icon of={ThumbsUp} />
        {count}
      </button>
      <Outcome of={action} />
    </div>
  )
}

function RequestFacts({ request }: { request: SkillRequest }) {
  const { status, requester, fulfilledBy, createdAt } = request
  return (
    <p class="facts">
      <Badge tone={status === 'fulfilled' ? 'good' : status === 'in_progress' ? 'fair' : 'plain'}>
        {statusTitles[status].toLowerCase()}
      </Badge>
      {fulfilledBy && (
        <span>
          by <SkillLink name={fulfilledBy} />
        </span>
      )}
      <span>
        asked <Time at={createdAt} /> by {requester ? <UserLink name={requester.username} /> : 'a guest'}
      </span>
    </p>
  )
}
