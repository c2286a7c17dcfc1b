import { api, useData } from '../../api.ts'
import { addresses } from '../../addresses.ts'
import { useMe } from '../../session.ts'
import { Page, ItemList, usePage } from '../../ui/page.tsx'
import { Badge, Empty, Time, NameHeading, NewSecret, type Tone } from '../../ui/parts.tsx'
import { useState } from 'preact/hooks'
import { Form, useAction, Check, Field, TextArea, type Fields } from '../../ui/form.tsx'

type Delivery = Awaited<ReturnType<typeof api.getWebhook>>['deliveries'][number]

export const deliveryTones: Record<Delivery['status'], Tone> = { delivered: 'good', pending: 'fair', failed: 'bad' }

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
  const action = useAction(async (fields: Fields) => {
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

type Webhook = Awaited<ReturnType<typeof api.listWebhooks>>['webhooks'][number]
type EventName = Webhook['events'][number]

const events: readonly (readonly [EventName, string])[] = [
  ['skill.published', 'a version that you can see is published'],
  ['skill.downloaded', 'a skill of yours is downloaded'],
  ['skill.recalled', 'versions of a skill that you may see are recalled'],
  ['skill.starred', 'a skill of yours is starred'],
  ['skill.review.created', 'a skill of yours is reviewed'],
  ['skill.issue.created', 'an issue is filed for a skill of yours'],
  ['user.followed', 'a user follows you'],
]

/** The form fields of a webhook. */
export function WebhookFields({ webhook, withSecret }: { webhook?: Webhook; withSecret?: boolean }) {
  return (
    <>
      <Field label="Address" name="url" type="url" required defaultValue={webhook?.url}>
        The URL that the node posts to. It must use https and be public, unless the operator allows your network.
      </Field>
      <fieldset>
        <legend>Events</legend>
        {events.map(([name, when]) => (
          <Check key={name} name={name} defaultChecked={webhook?.events.includes(name) ?? false}>
            <code>{name}</code> {when}
          </Check>
        ))}
      </fieldset>
      <TextArea label="Only for these skills" name="skills" rows={2} value={webhook?.skills?.join('\n')}>
        One per line: owner/name, or owner/* for all skills of an owner. Empty: all skills.
      </TextArea>
      {withSecret && (
        <Field label="Secret" name="secret" type="password" autocomplete="off">
          Empty: a new random secret.
        </Field>
      )}
    </>
  )
}

export function toWebhookSettings(fields: Record<string, string>) {
  const skills = (fields.skills ?? '').split(/\s+/).filter(Boolean)
  return {
    url: fields.url!,
    events: events.map(([name]) => name).filter((name) => fields[name] === 'on'),
    skills: skills.length > 0 ? skills : null,
  }
}

/** The secret of a webhook, which is shown only once. */
export function SecretShown({ secret, onDone }: { secret: string; onDone(): void }) {
  return (
    <NewSecret label="The secret" text={secret} onDone={onDone}>
      Copy the secret now: it is shown only once. Your program verifies signatures with it.
    </NewSecret>
  )
}
