import type { Moderation } from '@skillstead/protocol'
import { addresses } from '../../../addresses.ts'
import { api } from '../../../api.ts'
import { refresh, useData } from '../../../data/queries.ts'
import { Form, TextArea, useAction } from '../../../ui/form.tsx'
import { Badge, Time } from '../../../ui/parts.tsx'

const standings = {
  flagged: 'An administrator flagged this skill: whoever has it installed is warned.',
  hidden: 'An administrator hid this skill: nobody else sees it.',
} as const

/** What administrators made of a skill, for its owner, who may ask them to think again. Nothing where all is well. */
export function Standing({ name }: { name: string }) {
  const { data } = useData(['moderation', name], () => api.getModeration({ name }))
  if (!data || (data.state === 'shown' && data.cases.length === 0)) return null
  return (
    <section class="card" aria-label="How this skill stands">
      {data.state !== 'shown' && (
        <p>
          <strong class="bad">{standings[data.state]}</strong> {data.decidedAt && <Time at={data.decidedAt} />}
        </p>
      )}
      {data.state !== 'shown' && data.reason && (
        <p>
          The reason given: <bdi>{data.reason}</bdi>
        </p>
      )}
      {data.cases.map(({ id, status, submittedAt }) => (
        <p key={id}>
          A <a href={addresses.takedown(id)}>takedown case</a> is about it, {status.replaceAll('_', ' ')},{' '}
          <Time at={submittedAt} />.
        </p>
      ))}
      <Appeals of={data} name={name} />
    </section>
  )
}

function Appeals({ of: { state, appeals }, name }: { of: Moderation; name: string }) {
  const action = useAction(async ({ statement = '' }: Record<string, string>) => {
    await api.appealModeration({ name, statement })
    await refresh('moderation', name)
  })
  const mayAppeal = state !== 'shown' && appeals.every(({ status }) => status !== 'open')
  return (
    <>
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
      {mayAppeal && (
        <Form action={action} submit="Send the appeal">
          <TextArea
            label="Why should they think again?"
            name="statement"
            required
            maxLength={10_000}
            hint="The administrators read this, and nobody else."
          />
        </Form>
      )}
    </>
  )
}
