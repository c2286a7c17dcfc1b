import { api } from '../../api.ts'
import { useData } from '../../data/queries.ts'
import { useMe } from '../../data/session.ts'
import { Page } from '../../ui/page.tsx'
import { Notice } from '../../ui/parts.tsx'
import { Shown } from '../../ui/shown.tsx'
import { SignInLink } from '../../ui/sign-in-link.tsx'
import { Progress } from './progress.tsx'
import type { SkillRequest } from './request-data.ts'
import { RequestFacts } from './request-list.tsx'
import { Vote } from './vote.tsx'

/** One request in full, with the visitor's actions. */
export function RequestView({ id, isNew }: { id: string; isNew: boolean }) {
  const request = useData(['request', id], () => api.getRequest({ id }))
  return (
    <Page title={request.data?.title ?? 'Request'}>
      <p>
        <a href="/requests">All requests</a>
      </p>
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
        {request.description && (
          <p class="description" dir="auto">
            {request.description}
          </p>
        )}
        {me && <Progress request={request} me={me} />}
        {me === null && request.status !== 'fulfilled' && (
          <p class="faint">
            <SignInLink>Sign in</SignInLink> to vote, or to work on it.
          </p>
        )}
      </div>
    </div>
  )
}
