import { createClient } from '@skillstead/client'
import { RegistryError, isResponseCode, type ErrorCode, type RegistryApi, readFields } from '@skillstead/protocol'
import type { WriteKind } from '../queue/upstream-write.ts'
import type { MirrorContext } from '../run.ts'
import type { Upstream } from '../types.ts'
import { patience, type UpstreamFetch } from '../upstream-fetch.ts'
import type { OpenAccount } from './accounts.ts'
import type { StoredWrite } from './rows.ts'

/** One attempt to send a write. */
export interface Sending<Write extends StoredWrite = StoredWrite> {
  readonly context: MirrorContext
  readonly upstream: Upstream
  readonly http: UpstreamFetch
  readonly write: Write
  /** The account that sends the write; undefined for installs, which are sent without an account. */
  readonly account: OpenAccount | undefined
}

/** One attempt to send a write of one kind. */
export type SendingOf<K extends WriteKind> = Sending<Extract<StoredWrite, { kind: K }>>

/** A note to store with a delivered write. */
export type Note = { readonly code: 'quarantined'; readonly message: string } | undefined

/**
 * The upstream's API client, with an idempotency key, so that the upstream answers a repeated request with its stored
 * response. Each retry by the operator uses a new key, because with the old key the upstream would repeat a stored
 * refusal for a day.
 */
export function openApi({ upstream, http, account, write }: Sending, part = ''): RegistryApi {
  const key = `skillstead-${write.id}-${write.payload.round ?? 0}${part}`
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    headers.set('idempotency-key', key)
    const response = await http.within(responseBytesMax)(input, { ...init, headers })
    if (response.status > 399) await requireCode(upstream, response.clone())
    if (response.status < 300 || response.status > 399) return response
    const place = response.headers.get('location') ?? 'another URL'
    throw new RegistryError(
      'conflict',
      `${upstream.name} redirects this write to ${place}. Update the upstream's location, then retry.`,
    )
  }
  const options = { baseUrl: upstream.location, fetch: send, client: 'skillstead-mirror', ...patience }
  return createClient({ ...options, ...(account && { apiKey: account.key }) })
}

/** Statuses that are temporary, or whose meaning is clear without an error code in the body. */
const knownStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 410, 425, 429, 451])
const refusalCodes: Readonly<Record<number, ErrorCode>> = { 409: 'conflict', 413: 'payload_too_large' }
const refusalBytesMax = 64 * 1024
const responseBytesMax = 16 * 1024 * 1024

/**
 * Throws an error that is not temporary for a refusal without a known error code: the base API allows any text as code,
 * and a retry would return the same refusal.
 */
async function requireCode({ name }: Upstream, response: Response): Promise<void> {
  const { status, headers } = response
  const isPage = headers.get('content-type')?.startsWith('text/html')
  if (status > 499 || knownStatuses.has(status) || isPage) return
  const body = readFields((await response.text()).slice(0, refusalBytesMax))
  if (isResponseCode(body.code)) return
  const words =
    [body.detail, body.message, body.error].find((text) => typeof text === 'string') ?? 'the response gives no reason'
  throw new RegistryError(refusalCodes[status] ?? 'invalid_request', `${name} returned status ${status}: ${words}`)
}
