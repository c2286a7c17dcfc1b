import { api } from '../../api.ts'
import { useMe } from '../../data/session.ts'
import { unlessBusy, useAction } from '../../ui/form.tsx'
import { Problem } from '../../ui/problem.tsx'
import { refreshRequests, useVotes, type SkillRequest } from './request-data.ts'

/** The number of votes; signed-in users can vote while the request is open. */
export function Vote({ request }: { request: SkillRequest }) {
  const me = useMe()
  const votes = useVotes()
  const waits = request.status === 'open' || request.status === 'in_progress'
  const voted = votes?.has(request.id) ?? false
  const action = useAction(async () => {
    await (voted ? api.withdrawRequestVote({ id: request.id }) : api.voteForRequest({ id: request.id }))
    await refreshRequests()
  })
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
        <span aria-hidden="true">▲</span>
        {count} <small>{request.votes === 1 ? 'vote' : 'votes'}</small>
      </button>
      {action.error != null && <Problem error={action.error} />}
    </div>
  )
}
