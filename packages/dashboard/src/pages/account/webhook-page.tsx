import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api, useData } from '../../api.ts'
import { ConfirmButton, ActionButton, Form, useAction, type Fields } from '../../ui/form.tsx'
import { Page, Shown } from '../../ui/page.tsx'
import { Badge, Empty, Time, toCount } from '../../ui/parts.tsx'
import { deliveryTones, SecretShown, WebhookFields, toWebhookSettings } from './webhooks-page.tsx'

type Webhook = Awaited<ReturnType<typeof api.getWebhook>>

/** One webhook: its deliveries with their attempts, and all actions. */
export function WebhookPage() {
  const { id = '' } = useRoute().params
  const found = useData(['webhook', id], () => api.getWebhook({ id }))
  return (
    <Page title="Webhook" aside={<a href="/account/webhooks">All webhooks</a>}>
      <Shown of={found}>{(webhook) => <WebhookShown webhook={webhook} />}</Shown>
    </Page>
  )
}

function WebhookShown({ webhook }: { webhook: Webhook }) {
  const { id } = webhook
  return (
    <>
      <p>
        <code>{webhook.url}</code>
      </p>
      <p class="facts">
        {webhook.active ? <Badge tone="good">on</Badge> : <Badge tone="bad">off</Badge>}
        <span>{webhook.events.join(', ')}</span>
        <span>{webhook.skills === null ? 'all skills' : webhook.skills.join(', ')}</span>
      </p>
      {!webhook.active && (
        <p class="notice fair">
          This webhook is off and receives nothing. Its owner turned it off, or many deliveries failed in a row.
        </p>
      )}
      <div class="row">
        <ActionButton work={() => api.pingWebhook({ id })}>Send a ping</ActionButton>
        <ActionButton work={() => api.updateWebhook({ id, active: !webhook.active })}>
          {webhook.active ? 'Turn off' : 'Turn on'}
        </ActionButton>
        <Rotation id={id} />
      </div>
      <Change webhook={webhook} />
      <h2>Deliveries</h2>
      <p class="faint">The latest 100. Failed deliveries can be retried; the event keeps its id.</p>
      {webhook.deliveries.length === 0 && (
        <Empty>Nothing was sent yet. Send a ping to test whether your program responds.</Empty>
      )}
      <ul class="plain" aria-label="Deliveries">
        {webhook.deliveries.map((delivery) => (
          <DeliveryItem key={delivery.id} webhookId={id} delivery={delivery} />
        ))}
      </ul>
    </>
  )
}

/** Creates a new secret in the browser. For one day deliveries are also signed with the previous secret. */
function Rotation({ id }: { id: string }) {
  const [secret, setSecret] = useState<string>()
  if (secret !== undefined) return <SecretShown secret={secret} onDone={() => setSecret(undefined)} />
  return (
    <ConfirmButton
      action="Rotate the secret"
      title="Rotate the secret?"
      work={async () => {
        const made = createSecret()
        await api.updateWebhook({ id, secret: made })
        setSecret(made)
      }}
    >
      <p>The new secret is shown only once. For 24 hours both secrets sign deliveries.</p>
    </ConfirmButton>
  )
}

/** The secret format of Standard Webhooks: 32 random bytes in base64 after `whsec_`. */
function createSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`
}

function Change({ webhook }: { webhook: Webhook }) {
  const { route } = useLocation()
  const { id } = webhook
  const action = useAction((fields: Fields) => api.updateWebhook({ id, ...toWebhookSettings(fields) }))
  const remove = async () => {
    await api.deleteWebhook({ id })
    route('/account/webhooks')
  }
  return (
    <details class="card">
      <summary>Change this webhook</summary>
      <Form action={action} submit="Save" done="Saved.">
        <WebhookFields webhook={webhook} />
      </Form>
      <ConfirmButton action="Delete the webhook" title="Delete this webhook?" work={remove}>
        <p>Its pending deliveries are dropped. This cannot be undone.</p>
      </ConfirmButton>
    </details>
  )
}

type Delivery = Awaited<ReturnType<typeof api.getWebhook>>['deliveries'][number]

/** One delivery: its state, a timeline of its attempts, the sent body, and a retry button. */
function DeliveryItem({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
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
