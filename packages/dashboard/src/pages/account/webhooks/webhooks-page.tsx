import { api } from '../../../api.ts'
import { addresses } from '../../../addresses.ts'
import { useData } from '../../../data/queries.ts'
import { useMe } from '../../../data/session.ts'
import { useAddress } from '../../../data/use-address.ts'
import { Page } from '../../../ui/page.tsx'
import { Pager, toPageNumber } from '../../../ui/pager.tsx'
import { Badge, Empty, Time } from '../../../ui/parts.tsx'
import { Shown } from '../../../ui/shown.tsx'
import { deliveryTones } from './delivery.tsx'
import { NewWebhook } from './new-webhook.tsx'

/** The user's webhooks with the result of their last delivery. */
export function WebhooksPage() {
  const me = useMe()!
  const page = toPageNumber(useAddress().fields.page)
  const isOpen = me.plan !== 'free'
  const webhooks = useData(['webhooks', page], () => api.listWebhooks({ page }), isOpen)
  if (!isOpen) {
    return (
      <Page title="Webhooks">
        <Empty>
          <p>Your plan ({me.plan}) does not include webhooks; an administrator can change it.</p>
        </Empty>
      </Page>
    )
  }
  return (
    <Page title="Webhooks">
      <p class="faint">The node sends events to your programs: signed, and retried on failure.</p>
      <NewWebhook />
      <Shown of={webhooks}>
        {(found) => (
          <>
            {found.webhooks.length === 0 && (
              <Empty>
                <p>You have no webhooks yet.</p>
              </Empty>
            )}
            <ul class="plain">
              {found.webhooks.map((webhook) => (
                <li key={webhook.id}>
                  <h2>
                    <a href={addresses.webhook(webhook.id)}>
                      <bdi>{webhook.url}</bdi>
                    </a>
                  </h2>
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
              ))}
            </ul>
            <Pager page={page} totalPages={found.totalPages} />
          </>
        )}
      </Shown>
    </Page>
  )
}
