import { createReceiver, WebhookError, type ReceiverOptions, type WebhookHeaders } from '@skillstead/client/webhooks'
import { signService, signStandard } from '../../packages/core/src/webhooks/signatures.ts'

export const secret = 'whsec_c2l4dGVlbiBieXRlcyBvZiBzZWNyZWN5'
export const otherSecret = 'correct horse battery stäple'
export const nowSeconds = 1_767_355_200
export const event = {
  id: '0194b0f5-7a52-7c39-a4f6-2f0fdd3a1f8e',
  event: 'user.followed',
  timestamp: '2026-01-02T12:00:00.000Z',
  data: { follower: { id: '0194b0f5-7a52-7c39-a4f6-2f0fdd3a1f8f', username: 'zoë' }, followerCount: 3 },
} as const

export interface SignedDelivery {
  headers: Record<string, string>
  body: string
}

/** A delivery as the registry makes it; the first secret is the current one. */
export function sign(
  content: unknown = event,
  { secrets = [secret], timestamp = nowSeconds }: { secrets?: string[]; timestamp?: number | string } = {},
): SignedDelivery {
  const body = typeof content === 'string' ? content : JSON.stringify(content)
  const { id = event.id, event: name = event.event } = (content ?? {}) as { id?: string; event?: string }
  const signing = { id, timestamp: timestamp as number, body }
  return {
    body,
    headers: {
      'x-service-event': name,
      'x-service-delivery': '0194b0f5-7a52-7c39-a4f6-2f0fdd3a1f90',
      'x-service-signature': signService(secrets[0]!, body),
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': secrets.map((each) => signStandard(each, signing)).join(' '),
    },
  }
}

export function openReceiver(options: Partial<ReceiverOptions> = {}) {
  return createReceiver({ secret, now: () => nowSeconds * 1000, ...options })
}

/** The code that a delivery is refused with; `taken` where it is not. */
export async function outcomeOf(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  options?: Partial<ReceiverOptions>,
) {
  try {
    await openReceiver(options).verify(headers, body)
    return 'taken'
  } catch (error) {
    if (error instanceof WebhookError) return error.code
    throw error
  }
}

export function without(headers: Record<string, string>, ...names: string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)))
}
