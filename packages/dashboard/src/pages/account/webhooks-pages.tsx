import { keysOf } from '@skillstead/protocol'
import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useMe } from '../../session.ts'
import { Page, ItemList, usePage, Shown } from '../../ui/page.tsx'
import { Badge, Empty, Time, NameHeading, NewSecret, toCount } from '../../ui/parts.tsx'
import { useState } from 'preact/hooks'
import { Form, Check, Field, TextArea, type Fields, ConfirmButton, ActionButton } from '../../ui/form.tsx'
import { useRoute } from 'preact-iso'

type Webhook = Awaited<ReturnType<typeof api.getWebhook>>
type Delivery = Webhook['deliveries'][number]

const deliveryTones = { delivered: 'good', pending: 'fair', failed: 'bad' } as const

const DeliveryBadge = ({ of }: { of: Delivery['status'] }) => <Badge tone={deliveryTones[of]}>{of}</Badge>

const ActiveBadge = ({ of }: { of: boolean }) => (of ? <Badge tone="good">on</Badge> : <Badge tone="bad">off</Badge>)

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
        {({ id, url, active, events: chosen, lastDelivery }) => (
          <li key={id}>
            <NameHeading href={addresses.webhook(id)} name={url} />
            <p class="facts">
              <ActiveBadge of={active} />
              <span>{chosen.join(', ')}</span>
              {lastDelivery && (
                <span>
                  last delivery <DeliveryBadge of={lastDelivery.status} /> <Time at={lastDelivery.at} />
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
  const create = async (fields: Fields) =>
    setSecret((await api.createWebhook({ ...toWebhookSettings(fields), secret: fields.secret || undefined })).secret)
  if (secret !== undefined) return <SecretShown secret={secret} onDone={() => setSecret(undefined)} />
  return (
    <Form card="Create a webhook" work={create} submit="Create webhook" done="Created.">
      <WebhookFields withSecret />
    </Form>
  )
}

type EventName = Webhook['events'][number]

/** When each event is sent, in the order of the form: an event without a text here does not compile. */
const eventTexts: Readonly<Record<EventName, string>> = {
  'skill.published': 'a version that you can see is published',
  'skill.downloaded': 'a skill of yours is downloaded',
  'skill.recalled': 'versions of a skill that you may see are recalled',
  'skill.starred': 'a skill of yours is starred',
  'skill.review.created': 'a skill of yours is reviewed',
  'skill.issue.created': 'an issue is filed for a skill of yours',
  'skill.submitted': 'a version waits for your approval',
  'skill.reviewed': 'a reviewer decides on a version that you submitted',
  'skill.dependency.withdrawn': 'versions that a skill of yours requires are yanked or recalled',
  'user.followed': 'a user follows you',
  'mirror.alarm': 'the sync of an upstream is paused (only to administrators)',
}
const eventNames = keysOf(eventTexts)

/** The form fields of a webhook. */
const WebhookFields = ({ webhook, withSecret }: { webhook?: Webhook; withSecret?: boolean }) => (
  <>
    <Field label="Address" name="url" type="url" required defaultValue={webhook?.url}>
      The URL that the node posts to. It must use https and be public, unless the operator allows your network.
    </Field>
    <fieldset>
      <legend>Events</legend>
      {eventNames.map((name) => (
        <Check key={name} name={name} defaultChecked={webhook?.events.includes(name) ?? false}>
          <code>{name}</code> {eventTexts[name]}
        </Check>
      ))}
    </fieldset>
    <TextArea label="Only for these skills" name="skills" rows={2} value={webhook?.skills?.join('\n')}>
      One per line: owner/name, or owner/* for all skills of an owner. Empty: all skills.
    </TextArea>
    {withSecret && (
      <Field label="Secret" name="secret" type="password" autocomplete="off" hint="Empty: a new random secret." />
    )}
  </>
)

function toWebhookSettings(fields: Fields) {
  const skills = (fields.skills ?? '').split(/\s+/).filter(Boolean)
  return {
    url: fields.url!,
    events: eventNames.filter((name) => fields[name] === 'on'),
    skills: skills.length > 0 ? skills : null,
  }
}

/** The secret of a webhook, which is shown only once. */
const SecretShown = ({ secret, onDone }: { secret: string; onDone(): void }) => (
  <NewSecret label="The secret" text={secret} onDone={onDone}>
    Copy the secret now: it is shown only once. Your program verifies signatures with it.
  </NewSecret>
)

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
  const { id, url, active, skills, deliveries } = webhook
  return (
    <>
      <p>
        <code>{url}</code>
      </p>
      <p class="facts">
        <ActiveBadge of={active} />
        <span>{webhook.events.join(', ')}</span>
        <span>{skills === null ? 'all skills' : skills.join(', ')}</span>
      </p>
      {!active && (
        <p class="notice fair">
          This webhook is off and receives nothing. Its owner turned it off, or many deliveries failed in a row.
        </p>
      )}
      <div class="row">
        <ActionButton work={() => api.pingWebhook({ id })}>Send a ping</ActionButton>
        <ActionButton work={() => api.updateWebhook({ id, active: !active })}>
          {active ? 'Turn off' : 'Turn on'}
        </ActionButton>
        <Rotation id={id} />
      </div>
      <Change webhook={webhook} />
      <h2>Deliveries</h2>
      <p class="faint">The latest 100. Failed deliveries can be retried; the event keeps its id.</p>
      {deliveries.length === 0 && (
        <Empty>Nothing was sent yet. Send a ping to test whether your program responds.</Empty>
      )}
      <ul class="plain" aria-label="Deliveries">
        {deliveries.map((delivery) => (
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
const createSecret = (): string => `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`

const Change = ({ webhook }: { webhook: Webhook }) => (
  <details class="card">
    <summary>Change this webhook</summary>
    <Form
      work={(fields) => api.updateWebhook({ id: webhook.id, ...toWebhookSettings(fields) })}
      submit="Save"
      done="Saved."
    >
      <WebhookFields webhook={webhook} />
    </Form>
    <ConfirmButton
      action="Delete the webhook"
      title="Delete this webhook?"
      work={() => api.deleteWebhook({ id: webhook.id })}
      leadsTo="/account/webhooks"
    >
      <p>Its pending deliveries are dropped. This cannot be undone.</p>
    </ConfirmButton>
  </details>
)

/** One delivery: its state, a timeline of its attempts, the sent body, and a retry button. */
function DeliveryItem({ webhookId, delivery }: { webhookId: string; delivery: Delivery }) {
  const [opened, setOpened] = useState(false)
  const ids = { id: webhookId, deliveryId: delivery.id }
  return (
    <li>
      <p class="facts">
        <DeliveryBadge of={delivery.status} />
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

const Attempts = ({ of }: { of: Delivery }) =>
  of.attempts.length === 0 ? (
    <p>Not attempted yet.</p>
  ) : (
    <ol class="timeline">
      {of.attempts.map(({ number, at, statusCode, durationMs, error }) => (
        <li key={number}>
          <span>Attempt {number}</span>, <Time at={at} />: <strong>{statusCode ?? 'no response'}</strong> in{' '}
          {Math.round(durationMs)} ms
          {error && <p>{error}</p>}
        </li>
      ))}
    </ol>
  )

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
