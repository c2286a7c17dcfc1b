import { api, useData } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { useMe } from '../../../session.ts'
import { Page, ItemList, usePage } from '../../../ui/page.tsx'
import { Badge, Empty, Time, NameHeading } from '../../../ui/parts.tsx'
import { deliveryTones } from './delivery.tsx'
import { useState } from 'preact/hooks'
import { Form, useAction } from '../../../ui/form.tsx'
import { SecretShown, WebhookFields, toWebhookSettings } from './webhook-fields.tsx'

/** The user's webhooks with the result of their last delivery. */
export function WebhooksPage() {
  const me = useMe()!
  const page = usePage()
  const isOpen = me.plan !== 'free'
  const webhooks = useData(['webhooks', page], () => api.listWebhooks({ page }), isOpen)
  if (!isOpen) {
    return (
      <Page title="Webhooks">
        <Empty>Your plan ({me.plan}) does not include webhooks; an administrator can change it.</Empty>
      </Page>
    )
  }
  return (
    <Page
      title="Webhooks"
      hint="The node sends events to your programs, signs them, and tries again after a failure."
      aside={<NewWebhook />}
    >
      <ItemList
        of={webhooks}
        items="webhooks"
        empty="You have no webhooks yet. Create one, and the node sends it the events that you choose."
      >
        {(webhook) => (
          <li key={webhook.id}>
            <NameHeading href={addresses.webhook(webhook.id)} name={webhook.url} />
            <p class="facts">
              {webhook.active ? <Badge tone="good">on</Badge> : <Badge tone="bad">off</Badge>}
              <span>{webhook.events.join(', ')}</span>
              {webhook.lastDelivery && (
                <span>
                  last delivery{' '}
                  <Badge tone={deliveryTones[webhook.lastDelivery.status]}>{webhook.lastDelivery.status}</Badge>{' '}
                  <Time at={webhook.lastDelivery.at} />
                </span>
              )}
            </p>
          </li>
        )}
      </ItemList>
    </Page>
  )
}

/** Creates a webhook; the secret that signs its deliveries is shown once. */
function NewWebhook() {
  const [secret, setSecret] = useState<string>()
  const action = useAction(async (fields: Record<string, string>) => {
    const made = await api.createWebhook({ ...toWebhookSettings(fields), secret: fields.secret || undefined })
    if (made.secret) setSecret(made.secret)
  })
  if (secret !== undefined) return <SecretShown secret={secret} onDone={() => setSecret(undefined)} />
  return (
    <Form card="Create a webhook" action={action} submit="Create webhook" done="Created.">
      <WebhookFields withSecret />
    </Form>
  )
}
