import { ThumbsUp } from 'lucide'
import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { unlessBusy, useAction } from '../../ui/form.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Problem } from '../../ui/problem.tsx'

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
