import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Page, Shown } from '../../ui/page.tsx'
import { Badge, Notice, Time, UserLink, UserText } from '../../ui/parts.tsx'
import { SkillLink } from '../../ui/skill-list.tsx'
import { ActionButton, Field, Form, useAction, unlessBusy, type Fields } from '../../ui/form.tsx'
import { SignInTo } from '../../ui/sign-in-link.tsx'
import { ThumbsUp } from 'lucide'
import { Icon } from '../../ui/icon.tsx'
import { Problem } from '../../ui/problem.tsx'

/** One request in full, with the visitor's actions. */
export function RequestView({ id, isNew }: { id: string; isNew: boolean }) {
  const request = useData(['request', id], () => api.getRequest({ id }))
  return (
    <Page title={request.data?.title ?? 'Request'} aside={<a href="/requests">All requests</a>}>
      {isNew && <Notice>Your request is filed. Share this page: requests with more votes rank higher.</Notice>}
      <Shown of={request}>{(data) => <Whole request={data} />}</Shown>
    </Page>
  )
}

function Whole({ request }: { request: SkillRequest }) {
  const me = useMe()
  return (
    <div class="request">
      <Vote request={request} />
      <div>
        <RequestFacts request={request} />
        {request.description && <UserText class="description">{request.description}</UserText>}
        {me && <Progress request={request} me={me} />}
        {request.status !== 'fulfilled' && <SignInTo class="faint">vote, or to work on it</SignInTo>}
      </div>
    </div>
  )
}

/** The state changes that the node allows, except the one that requires a skill. Only the author of the request and administrators may do more than start. */
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

/** The actions that the visitor can take on a request. */
function Progress({ request, me }: { request: SkillRequest; me: { username: string; role: string } }) {
  const isParty = me.role === 'admin' || request.requester?.username === me.username
  const open = steps[request.status].filter(([to]) => isParty || to === 'in_progress')
  const canFulfil = isParty && (request.status === 'open' || request.status === 'in_progress')
  if (open.length === 0) return null
  return (
    <section aria-label="Progress" class="progress">
      <div class="row">
        {open.map(([status, title]) => (
          <ActionButton key={status} work={() => api.updateRequest({ id: request.id, status })}>
            {title}
          </ActionButton>
        ))}
      </div>
      {canFulfil && <Fulfil request={request} />}
    </section>
  )
}

function Fulfil({ request }: { request: SkillRequest }) {
  const action = useAction(({ skill = '' }: Fields) =>
    api.updateRequest({ id: request.id, status: 'fulfilled', fulfilledBy: skill.trim() || undefined }),
  )
  return (
    <details>
      <summary>There is a skill for this now</summary>
      <Form action={action} submit="Mark as fulfilled">
        <Field label="Skill" name="skill" placeholder="owner/name" autocomplete="off" maxLength={128}>
          A public skill that fulfils the request. This is final.
        </Field>
      </Form>
    </details>
  )
}

export type SkillRequest = Awaited<ReturnType<typeof api.getRequest>>
export type Status = SkillRequest['status']

export const statusTitles: Readonly<Record<Status, string>> = {
  open: 'Open',
  in_progress: 'In progress',
  fulfilled: 'Fulfilled',
  closed: 'Closed',
}

const votePagesMax = 5

/** The ids of the requests that the visitor voted for; empty for a guest, undefined until they are loaded. */
function useVotes(): ReadonlySet<string> | undefined {
  const me = useMe()
  const { data } = useData(['votes', me?.username], readVotes, Boolean(me))
  return me === null ? noVotes : data
}

const noVotes: ReadonlySet<string> = new Set()

/** Load the latest 500 votes. Requests with an older vote look as if they had no vote; voting again changes nothing. */
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
export function Vote({ request }: { request: SkillRequest }) {
  const me = useMe()
  const votes = useVotes()
  const waits = request.status === 'open' || request.status === 'in_progress'
  const voted = votes?.has(request.id) ?? false
  const action = useAction(() =>
    voted ? api.withdrawRequestVote({ id: request.id }) : api.voteForRequest({ id: request.id }),
  )
  const count = request.votes.toLocaleString('en')
  if (!me || !votes || !waits) {
    return (
      <span class="vote">
        {count} <small>{request.votes === 1 ? 'vote' : 'votes'}</small>
      </span>
    )
  }
  return (
    <div>
      <button type="button" class={voted ? 'vote voted' : 'vote'} aria-pressed={voted} {...unlessBusy(action)}>
        <span class="unseen">
          Vote for <bdi>{request.title}</bdi>:
        </span>
        <Icon of={ThumbsUp} />
        {count} <small>{request.votes === 1 ? 'vote' : 'votes'}</small>
      </button>
      {action.error != null && <Problem error={action.error} />}
    </div>
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
