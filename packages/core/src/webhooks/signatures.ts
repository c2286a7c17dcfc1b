import { createHmac } from 'node:crypto'

/** Prefix of secrets whose rest is the signing key in base64 (Standard Webhooks, "Signature scheme"). */
export const standardPrefix = 'whsec_'

/** `X-Service-Signature` (docs/api.md#deliveries): over the raw body, keyed with the bytes of the whole secret. */
export function signService(secret: string, body: string): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

/** One signature of `webhook-signature` (Standard Webhooks, "Signature scheme"). `timestamp` is in seconds. */
export function signStandard(secret: string, { id, timestamp, body }: { id: string; timestamp: number; body: string }) {
  const key = secret.startsWith(standardPrefix) ? Buffer.from(secret.slice(standardPrefix.length), 'base64') : secret
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
}
