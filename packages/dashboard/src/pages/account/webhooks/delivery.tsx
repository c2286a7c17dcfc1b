import { useState } from 'preact/hooks'
import { api, useData } from '../../../api.ts'
import { ActionButton } from '../../../ui/form.tsx'
import { Badge, Time, toCount, type Tone } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/page.tsx'

export type Delivery = Awaited<ReturnType<typeof api.getWebhook>>['deliveries'][number]

export const deliveryTones: Record<Delivery['status'], Tone> = { delivered: 'good', pending: 'fair', failed: 'bad' }

/** One delivery: its state, a timeline of its attempts, the sent body, and a retry button. */
export function DeliveryItem({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const [opened, setOpened] = useState(false)
  const ids = { id: webhookId, deliveryId: delivery.id }
  return (
    <li>
      <p class="facts">
        <Badge tone={deliveryTones[delivery.status]}>{delivery.status}</Badge>
        <code>{delivery.event}</code>
        <Time at={delivery.createdAt} />
        {delivery.nextAttemptAt && <Time at={delivery.nextAttemptAt} verb="next attempt" />}
      </p>
      <details onToggle={(event) => setOpened(event.currentTarget.open)}>
        <summary>{toCount(delivery.attempts.length, 'attempt')} and what was sent</summary>
        <Attempts of={delivery} />
        {opened && <Body webhookId={webhookId} delivery={delivery} />}
      </details>
      {delivery.status !== 'delivered' && <ActionButton work={() => api.retryDelivery(ids)}>Retry now</ActionButton>}
    </li>
  )
}

function Attempts({ of }: { of: Delivery }) {
  if (of.attempts.length === 0) return <p>Not attempted yet.</p>
  return (
    <ol class="timeline">
      {of.attempts.map((attempt) => (
        <li key={attempt.number}>
          <span>Attempt {attempt.number}</span>, <Time at={attempt.at} />:{' '}
          <strong>{attempt.statusCode ?? 'no response'}</strong> in {Math.round(attempt.durationMs)} ms
          {attempt.error && <p>{attempt.error}</p>}
        </li>
      ))}
    </ol>
  )
}

function Body({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const details = useData(['delivery', delivery.id], () => api.getDelivery({ id: webhookId, deliveryId: delivery.id }))
  return (
    <Shown of={details}>
      {({ body }) => (
        <>
          <h3>Body</h3>
          <pre tabIndex={0} aria-label="The body of the delivery">
            <code>{toReadable(body)}</code>
          </pre>
        </>
      )}
    </Shown>
  )
}

function toReadable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
