import { addresses } from '../../addresses.ts'
import { api, useData } from '../../api.ts'
import { Form, TextArea } from '../../ui/form.tsx'
import { Badge, Time, toWords } from '../../ui/parts.tsx'

const standings = {
  flagged: 'An administrator flagged this skill: users who installed it are warned.',
  hidden: 'An administrator hid this skill: only you can see it.',
} as const

/** The moderation and takedown state of a skill for its owner, with a form to appeal; empty without such a state. */
export function Standing({ name }: { name: string }) {
  const { data } = useData(['moderation', name], () => api.getModeration({ name }))
  if (!data || (data.state === 'shown' && data.cases.length === 0)) return null
  const { state, reason, decidedAt, cases, appeals } = data
  return (
    <section class="card" aria-label="Moderation state">
      {state !== 'shown' && (
        <p>
          <strong class="bad">{standings[state]}</strong> {decidedAt && <Time at={decidedAt} />}
        </p>
      )}
      {state !== 'shown' && reason && (
        <p>
          Reason: <bdi>{reason}</bdi>
        </p>
      )}
      {cases.map(({ id, status, submittedAt }) => (
        <p key={id}>
          There is a <a href={addresses.takedown(id)}>takedown case</a>, {toWords(status)}, <Time at={submittedAt} />.
        </p>
      ))}
      {appeals.length > 0 && (
        <ul class="plain" aria-label="Your appeals">
          {appeals.map(({ id, status, details, note, createdAt }) => (
            <li key={id}>
              <p class="facts">
                <Badge tone={status === 'open' ? 'fair' : 'plain'}>{status}</Badge>
                <span>
                  your appeal, <Time at={createdAt} />
                </span>
              </p>
              <p dir="auto">{details}</p>
              {note && (
                <p class="faint">
                  Decided: <bdi>{note}</bdi>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      {state !== 'shown' && appeals.every(({ status }) => status !== 'open') && (
        <Form work={({ statement = '' }) => api.appealModeration({ name, statement })} submit="Send the appeal">
          <TextArea label="Why should this be reversed?" name="statement" required maxLength={10_000}>
            Only administrators can read this.
          </TextArea>
        </Form>
      )}
    </section>
  )
}
