import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { eventNames, type Delivery, type EventName, type RegistryApi, type Webhook } from '@skillstead/protocol'
import { UsageError, flag, text, type Arguments, type Command, type Option } from '../command.ts'
import { awaitAttempt, toDeliveryLines, toOutcome } from '../deliveries.ts'
import { toOutgoing } from '../outgoing-options.ts'
import { toOneLine } from '../output.ts'
import { findUrl, placeOptions, requireUser, withApi } from '../place.ts'

const options: Record<string, Option> = {
  user: { value: 'NAME', help: 'the owner of the webhooks, with --data' },
  ...placeOptions,
}

/** Settings of a new webhook, which `update` can change. */
const settings: Record<string, Option> = {
  events: { value: 'LIST', help: `any of ${eventNames.join(',')}` },
  skills: { value: 'LIST', help: 'the skills to notify about, as owner/name or owner/*; all for every skill' },
  'secret-file': { value: 'FILE|-', help: 'a file with the secret that signs deliveries; - reads standard input' },
  'allow-networks': { value: 'CIDR,...', help: 'private networks that the address may be in, with --data' },
}

/** `skillstead webhooks list`. */
export const listWebhooks: Command<{ webhooks: Webhook[]; total: number }> = {
  summary: 'List webhooks with the result of their latest delivery.',
  words: [],
  options,
  run: (given) => withWebhooks(given, (api) => api.listWebhooks({ limit: 100 })),
  show: ({ webhooks, total }) => [...webhooks.flatMap(toLines), `${webhooks.length} of ${total}.`],
}

/** `skillstead webhooks add URL`. */
export const addWebhook: Command<Webhook & { secret?: string }> = {
  summary: 'Create a webhook. Default secret: a new one, which is shown only once.',
  words: ['URL'],
  options: { ...settings, ...options },
  async run(given) {
    const events = toEvents(text(given, 'events'))
    if (!events) throw new UsageError(`Events are missing. Pass --events LIST, any of ${eventNames.join(', ')}.`)
    const input = { url: given.words[0]!, events, skills: toSkills(given), secret: await readSecret(given) }
    return withWebhooks(given, (api) => api.createWebhook(input))
  },
  show: ({ secret, ...webhook }) => [
    ...toLines(webhook),
    ...(secret === undefined ? [] : ['Its secret, shown only once:', secret]),
  ],
}

/** `skillstead webhooks show ID`. */
export const showWebhook: Command<Webhook & { deliveries: Delivery[] }> = {
  summary: 'Show a webhook and its deliveries, newest first, with every attempt and its error.',
  words: ['ID'],
  options,
  run: (given) => withWebhooks(given, (api) => api.getWebhook({ id: given.words[0]! })),
  show: ({ deliveries, ...webhook }) => [
    ...toLines(webhook),
    ...(deliveries.length === 0 ? ['No deliveries yet.'] : ['', ...deliveries.flatMap(toDeliveryLines)]),
  ],
}

/** `skillstead webhooks update ID`. */
export const updateWebhook: Command<Webhook> = {
  summary: 'Change a webhook. For one day after a change of its secret, both secrets sign.',
  words: ['ID'],
  options: {
    to: { value: 'URL', help: 'the https address to deliver to' },
    on: { help: 'enable the webhook' },
    off: { help: 'disable the webhook' },
    ...settings,
    ...options,
  },
  async run(given) {
    const [id] = given.words as [string]
    const events = toEvents(text(given, 'events'))
    const active = toActive(given)
    const changes = { url: text(given, 'to'), events, skills: toSkills(given), active, secret: await readSecret(given) }
    if (Object.values(changes).every((change) => change === undefined))
      throw new UsageError('Nothing to change. Pass --to, --events, --skills, --on, --off or --secret-file.')
    return withWebhooks(given, (api) => api.updateWebhook({ id, ...changes }))
  },
  show: toLines,
}

/** `skillstead webhooks remove ID`. */
export const removeWebhook: Command<{ removed: string }> = {
  summary: 'Delete a webhook. Its pending deliveries are dropped.',
  words: ['ID'],
  options,
  async run(given) {
    const [id] = given.words as [string]
    await withWebhooks(given, (api) => api.deleteWebhook({ id }))
    return { removed: id }
  },
  show: ({ removed }) => [`Removed ${removed}.`],
}

/** `skillstead webhooks ping ID`. */
export const pingWebhook: Command<Delivery> = {
  summary: 'Send a test delivery and wait for its result. Exit code 1 when it fails.',
  words: ['ID'],
  options,
  run(given) {
    const [id] = given.words as [string]
    return withWebhooks(given, async (api) => awaitAttempt(api, id, await api.pingWebhook({ id }), waitMs(given)))
  },
  show: (delivery) => [...toDeliveryLines(delivery), toOutcome(delivery)],
  hasFailed: ({ status }) => status === 'failed',
}

/** `skillstead webhooks retry ID DELIVERY`. */
export const retryDelivery: Command<Delivery> = {
  summary: 'Retry a pending or failed delivery at once. Exit code 1 when it fails for good.',
  words: ['ID', 'DELIVERY'],
  options,
  run(given) {
    const [id, deliveryId] = given.words as [string, string]
    const retry = (api: RegistryApi) => api.retryDelivery({ id, deliveryId })
    return withWebhooks(given, async (api) => awaitAttempt(api, id, await retry(api), waitMs(given)))
  },
  show: (delivery) => [...toDeliveryLines(delivery), toOutcome(delivery)],
  hasFailed: ({ status }) => status === 'failed',
}

async function withWebhooks<T>(given: Arguments, work: (api: RegistryApi) => Promise<T>): Promise<T> {
  const as = requireUser(given, 'The owner of the webhooks is missing. Pass --user NAME.')
  return withApi(given, work, { as, outgoing: await toOutgoing(given) })
}

/**
 * By then a node has delivered or given up. With --data it is unknown whether a node is running, so the wait is short.
 */
function waitMs(given: Arguments): number {
  return findUrl(given) === undefined ? 2000 : 10_000
}

function toEvents(list: string | undefined): EventName[] | undefined {
  const names = list?.split(',').map((name) => name.trim())
  const unknown = names?.find((name) => !eventNames.includes(name as EventName))
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is not an event. Use any of ${eventNames.join(', ')}.`)
  return names as EventName[] | undefined
}

/** Null means every skill. */
function toSkills(given: Arguments): string[] | null | undefined {
  const list = text(given, 'skills')
  return list === 'all' ? null : list?.split(',').map((name) => name.trim())
}

function toActive(given: Arguments): boolean | undefined {
  if (flag(given, 'on') && flag(given, 'off')) throw new UsageError('Pass --on or --off, not both.')
  return flag(given, 'on') ? true : flag(given, 'off') ? false : undefined
}

/** Read the secret from a file: an argument would be visible in the process list and the shell history. */
async function readSecret(given: Arguments): Promise<string | undefined> {
  const file = text(given, 'secret-file')
  if (file === undefined) return undefined
  const secret = (file === '-' ? await readAll(given.io.stdin) : readText(file)).replace(/\r?\n$/, '')
  if (secret === '')
    throw new UsageError(file === '-' ? 'Standard input has no secret.' : `'${file}' contains no secret.`)
  return secret
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    throw new UsageError(`'${file}' cannot be read.`)
  }
}

function toLines({ id, url, events, skills, active, lastDelivery }: Webhook): string[] {
  return [
    `${id}  ${active ? 'on ' : 'off'}  ${toOneLine(url)}`,
    `  events  ${events.join(', ')}`,
    `  skills  ${skills === null ? 'all' : skills.join(', ')}`,
    `  last    ${lastDelivery === null ? 'nothing yet' : `${lastDelivery.status} ${lastDelivery.at}`}`,
  ]
}
