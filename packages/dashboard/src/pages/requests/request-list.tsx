import { api, useKeptData } from '../../api.ts'
import { toAddress, useAddress } from '../../addresses.ts'
import { Select } from '../../ui/form.tsx'
import { toPageNumber, ItemList } from '../../ui/page.tsx'
import { Badge, Time, UserText, NameHeading, UserLink } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { statusTitles, type SkillRequest, type Status, Vote } from './request-parts.tsx'
import { SignInTo } from '../../ui/sign-in-link.tsx'

const sorts = [
  ['votes', 'Most votes'],
  ['recent', 'Newest'],
] as const
const statuses = Object.entries(statusTitles) as [Status, string][]

/** The requests, sorted and filtered by the address. */
export function RequestList() {
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
        {(request) => <RequestItem key={request.id} request={request} />}
      </ItemList>
    </>
  )
}

function RequestItem({ request }: { request: SkillRequest }) {
  return (
    <li>
      <Vote request={request} />
      <div>
        <NameHeading href={toAddress('/requests', { id: request.id })} name={request.title} />
        <UserText class="clamped">{request.description}</UserText>
        <RequestFacts request={request} />
      </div>
    </li>
  )
}

export function RequestFacts({ request }: { request: SkillRequest }) {
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
