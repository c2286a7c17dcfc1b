import { useLocation, useRoute } from 'preact-iso'
import { useState } from 'preact/hooks'
import { api, useData } from '../../../api.ts'
import { ConfirmButton, ActionButton, Form, useAction } from '../../../ui/form.tsx'
import { Page, Shown } from '../../../ui/page.tsx'
import { Badge, Empty } from '../../../ui/parts.tsx'
import { DeliveryItem } from './delivery.tsx'
import { SecretShown, WebhookFields, toWebhookSettings } from './webhook-fields.tsx'

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
  const action = useAction((fields: Record<string, string>) => api.updateWebhook({ id, ...toWebhookSettings(fields) }))
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
