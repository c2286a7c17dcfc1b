import { api } from '../../api.ts'
import { ActionButton, Field, Form, useAction } from '../../ui/form.tsx'
import { refreshRequests, type SkillRequest, type Status } from './request-data.ts'

interface Step {
  readonly to: Status
  readonly title: string
  /** Whether the step is only for the author of the request and administrators. */
  readonly party: boolean
}

const close: Step = { to: 'closed', title: 'Close', party: true }

/** The transitions that the node allows, except the one that names a skill. */
const steps: Readonly<Record<Status, readonly Step[]>> = {
  open: [{ to: 'in_progress', title: 'Start working on this', party: false }, close],
  in_progress: [{ to: 'open', title: 'Stop working on this', party: true }, close],
  closed: [{ to: 'open', title: 'Open again', party: true }],
  fulfilled: [],
}

/** The actions of the visitor on a request. */
export function Progress({ request, me }: { request: SkillRequest; me: { username: string; role: string } }) {
  const isParty = me.role === 'admin' || request.requester?.username === me.username
  const open = steps[request.status].filter(({ party }) => isParty || !party)
  const canFulfil = isParty && (request.status === 'open' || request.status === 'in_progress')
  if (open.length === 0) return null
  return (
    <section aria-label="Progress" class="progress">
      <div class="row">
        {open.map((step) => (
          <StepButton key={step.to} request={request} step={step} />
        ))}
      </div>
      {canFulfil && <Fulfil request={request} />}
    </section>
  )
}

function StepButton({ request, step }: { request: SkillRequest; step: Step }) {
  const action = useAction(async () => {
    await api.updateRequest({ id: request.id, status: step.to })
    await refreshRequests()
  })
  return <ActionButton action={action}>{step.title}</ActionButton>
}

function Fulfil({ request }: { request: SkillRequest }) {
  const action = useAction(async ({ skill = '' }: Record<string, string>) => {
    await api.updateRequest({ id: request.id, status: 'fulfilled', fulfilledBy: skill.trim() || undefined })
    await refreshRequests()
  })
  return (
    <details>
      <summary>There is a skill for this now</summary>
      <Form action={action} submit="Mark as fulfilled">
        <Field
          label="Skill"
          name="skill"
          placeholder="owner/name"
          autocomplete="off"
          maxLength={128}
          hint="A public skill that fulfils the request. This is final."
        />
      </Form>
    </details>
  )
}
