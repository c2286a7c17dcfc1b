import type { MirrorContext } from '../run.ts'
import { createClient } from '@skillstead/client'
import type { WriteKind } from '../queue/upstream-write.ts'
import { RegistryError, errorTable, parseForeignJson, type ErrorCode, type RegistryApi } from '@skillstead/protocol'
import type { Upstream } from '../types.ts'
import { patience, type UpstreamFetch } from '../upstream-fetch.ts'
import type { OpenAccount } from './accounts.ts'
import { findNameNow } from './names.ts'
import { WriteConflict } from './problems.ts'
import { setPayload, type StoredWrite } from './rows.ts'
import { sendFork, sendPublish } from './send-content.ts'
import { findPathName } from './there.ts'

/** One attempt at a write. */
export interface Sending<Write extends StoredWrite = StoredWrite> {
  readonly context: MirrorContext
  readonly upstream: Upstream
  readonly http: UpstreamFetch
  readonly write: Write
  /** Who writes there; undefined for what needs nobody. */
  readonly account: OpenAccount | undefined
}

/** One attempt at a write of a kind. */
export type SendingOf<K extends WriteKind> = Sending<Extract<StoredWrite, { kind: K }>>

/** What is to be known of a write that arrived. */
export type Note = { readonly code: 'quarantined'; readonly message: string } | undefined

/**
 * Does a write at its upstream, once in effect however often it is sent. Throws a RegistryError that the upstream, or the
 * way to it, answers, {@link WriteConflict} for what cannot arrive as it was meant.
 */
export async function sendWrite(sending: Sending): Promise<Note> {
  const { write } = sending
  const send = senders[write.kind] as (sending: Sending) => Promise<Note | void>
  return (await send(sending)) ?? undefined
}

const senders: { readonly [K in WriteKind]: (sending: SendingOf<K>) => Promise<Note | void> } = {
  publish: sendPublish,
  fork: sendFork,
  track: sendInstalls,
  async review(sending) {
    const { rating, title, body } = sending.write.payload
    await openApi(sending).createReview({ name: await getName(sending), rating, title, body })
  },
  async 'agent-review'(sending) {
    const { agentKey, rating, content } = sending.write.payload
    await openApi(sending).createAgentReview({ name: await getName(sending), agentKey, rating, content })
  },
  async star(sending) {
    const [api, name] = [openApi(sending), await getName(sending)]
    await (sending.write.payload.starred ? api.starSkill({ name }) : api.unstarSkill({ name }))
  },
}

/** One after the other, each remembered, so that what broke off goes on where it was. */
async function sendInstalls(sending: SendingOf<'track'>): Promise<void> {
  const { write, context } = sending
  const skillName = await getName(sending)
  for (let sent = write.payload.sent ?? 0; sent < write.payload.count;) {
    await openApi(sending, `-${sent}`).track({ skillName, source: 'registry' })
    sent += 1
    const payload = { ...write.payload, sent }
    await context.database.writer.write((trx) => setPayload(trx, write.id, payload))
  }
}

/**
 * The upstream's interface, with a key that makes it answer the same request the same way. Each round that the operator
 * begins has another: a refusal is kept there too, and would come again for a day.
 */
export function openApi({ upstream, http, account, write }: Sending, part = ''): RegistryApi {
  const key = `skillstead-${write.id}-${write.payload.round ?? 0}${part}`
  const send = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), 'idempotency-key': key }
    const response = await http.within(answerBytesMax)(input, { ...init, headers })
    if (response.status > 399) await requireCode(upstream, response.clone())
    if (response.status < 300 || response.status > 399) return response
    const place = response.headers.get('location') ?? 'another place'
    throw new RegistryError('conflict', `What this is written to has moved at ${upstream.name}, to ${place}.`)
  }
  const options = { baseUrl: upstream.location, fetch: send, client: 'skillstead-mirror', ...patience }
  return createClient({ ...options, ...(account && { apiKey: account.key }) })
}

/** Statuses of refusals that say by themselves what they mean, or pass. */
const toldStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 410, 425, 429, 451])
const refusalCodes: Readonly<Record<number, ErrorCode>> = { 409: 'conflict', 413: 'payload_too_large' }
const refusalBytesMax = 64 * 1024
const answerBytesMax = 16 * 1024 * 1024

/** A refusal in words of its own, as the specification leaves them open, comes no other way the next time. */
async function requireCode({ name }: Upstream, response: Response): Promise<void> {
  const { status, headers } = response
  const isPage = headers.get('content-type')?.startsWith('text/html')
  if (status > 499 || toldStatuses.has(status) || isPage) return
  const said = readRefusal((await response.text()).slice(0, refusalBytesMax))
  if (typeof said.code === 'string' && Object.hasOwn(errorTable, said.code)) return
  const words =
    [said.detail, said.message, said.error].find((text) => typeof text === 'string') ?? 'it does not say why'
  throw new RegistryError(refusalCodes[status] ?? 'invalid_request', `${name} answered ${status}: ${words}`)
}

function readRefusal(text: string): Record<string, unknown> {
  try {
    const value = parseForeignJson(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

async function getName(sending: Sending): Promise<string> {
  const { context, write } = sending
  const name = await findNameNow(context.database.read, write.payload.skillId)
  if (name !== undefined) return findPathName(openApi(sending), sending, name)
  throw new WriteConflict('changed', `${write.subject} is no longer here. Drop the write.`)
}
