import { api, useData } from '../../api.ts'
import { useMe } from '../../session.ts'
import { Page, Shown } from '../../ui/page.tsx'
import { Notice, UserText } from '../../ui/parts.tsx'
import { type SkillRequest, Vote, type Status } from './request-parts.tsx'
import { RequestFacts } from './request-list.tsx'
import { ActionButton, Field, Form, useAction } from '../../ui/form.tsx'
import { SignInTo } from '../../ui/sign-in-link.tsx'

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

interface Step {
  readonly to: Status
  readonly title: string
  /** Whether only the author of the request and administrators may make this transition. */
  readonly party: boolean
}

const close: Step = { to: 'closed', title: 'Close', party: true }

/** The state changes that the node allows, except the one that requires a skill. */
const steps: Readonly<Record<Status, readonly Step[]>> = {
  open: [{ to: 'in_progress', title: 'Start working on this', party: false }, close],
  in_progress: [{ to: 'open', title: 'Stop working on this', party: true }, close],
  closed: [{ to: 'open', title: 'Open again', party: true }],
  fulfilled: [],
}

/** The actions that the visitor can take on a request. */
function Progress({ request, me }: { request: SkillRequest; me: { username: string; role: string } }) {
  const isParty = me.role === 'admin' || request.requester?.username === me.username
  const open = steps[request.status].filter(({ party }) => isParty || !party)
  const canFulfil = isParty && (request.status === 'open' || request.status === 'in_progress')
  if (open.length === 0) return null
  return (
    <section aria-label="Progress" class="progress">
      <div class="row">
        {open.map((step) => (
          <ActionButton key={step.to} work={() => api.updateRequest({ id: request.id, status: step.to })}>
            {step.title}
          </ActionButton>
        ))}
      </div>
      {canFulfil && <Fulfil request={request} />}
    </section>
  )
}

function Fulfil({ request }: { request: SkillRequest }) {
  const action = useAction(({ skill = '' }: Record<string, string>) =>
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
