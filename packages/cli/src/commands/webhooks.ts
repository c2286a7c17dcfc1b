import { readFileSync } from 'node:fs'
import { text as readAll } from 'node:stream/consumers'
import { eventNames, type Delivery, type EventName, type RegistryApi, type Webhook } from '@skillstead/protocol'
import { UsageError, flag, text, type Arguments, type Command, type Option } from '../command.ts'
import { awaitAttempt, toDeliveryLines, toOutcome } from '../deliveries.ts'
import { toOutgoing } from '../outgoing-options.ts'
import { toOneLine } from '../output.ts'
import { findUrl, placeOptions, requireUser, withApi } from '../place.ts'

const options: Record<string, Option> = {
  user: { value: 'NAME', help: 'whose webhooks, with --data' },
  ...placeOptions,
}

/** What is chosen when a webhook is made, and can be changed later. */
const settings: Record<string, Option> = {
  events: { value: 'LIST', help: `any of ${eventNames.join(',')}` },
  skills: { value: 'LIST', help: 'what it is about, as owner/name or owner/*; all for every skill' },
  'secret-file': { value: 'FILE|-', help: 'a file with the secret that signs deliveries, - for standard input' },
  'allow-networks': { value: 'CIDR,...', help: 'private networks that the address may lie in, with --data' },
}

/** `skillstead webhooks list`. */
export const listWebhooks: Command<{ webhooks: Webhook[]; total: number }> = {
  summary: 'Lists webhooks, and what became of the newest delivery of each.',
  words: [],
  options,
  run: (given) => withWebhooks(given, (api) => api.listWebhooks({ limit: 100 })),
  show: ({ webhooks, total }) => [...webhooks.flatMap(toLines), `${webhooks.length} of ${total}.`],
}

/** `skillstead webhooks add URL`. */
export const addWebhook: Command<Webhook & { secret?: string }> = {
  summary: 'Makes a webhook. A secret that is not given is made, and shown this once.',
  words: ['URL'],
  options: { ...settings, ...options },
  async run(given) {
    const events = toEvents(text(given, 'events'))
    if (!events) throw new UsageError(`Say which events: --events LIST, any of ${eventNames.join(', ')}.`)
    const input = { url: given.words[0]!, events, skills: toSkills(given), secret: await readSecret(given) }
    return withWebhooks(given, (api) => api.createWebhook(input))
  },
  show: ({ secret, ...webhook }) => [
    ...toLines(webhook),
    ...(secret === undefined ? [] : ['Its secret, shown this once:', secret]),
  ],
}

/** `skillstead webhooks show ID`. */
export const showWebhook: Command<Webhook & { deliveries: Delivery[] }> = {
  summary: 'Shows a webhook and its deliveries, the newest first, with every attempt and why it failed.',
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
  summary: 'Changes a webhook. For a day after a change of its secret, both secrets sign.',
  words: ['ID'],
  options: {
    to: { value: 'URL', help: 'the https address to deliver to' },
    on: { help: 'delivers, again' },
    off: { help: 'delivers no more' },
    ...settings,
    ...options,
  },
  async run(given) {
    const [id] = given.words as [string]
    const events = toEvents(text(given, 'events'))
    const active = toActive(given)
    const changes = { url: text(given, 'to'), events, skills: toSkills(given), active, secret: await readSecret(given) }
    if (Object.values(changes).every((change) => change === undefined))
      throw new UsageError('Say what to change: --to, --events, --skills, --on, --off or --secret-file.')
    return withWebhooks(given, (api) => api.updateWebhook({ id, ...changes }))
  },
  show: toLines,
}

/** `skillstead webhooks remove ID`. */
export const removeWebhook: Command<{ removed: string }> = {
  summary: 'Deletes a webhook; what waits for it is not sent.',
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
  summary: 'Sends a test delivery, and waits for what becomes of it; fails where it does.',
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
  summary: 'Tries a delivery that waits or has failed again at once; fails where it does for good.',
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
  const as = requireUser(given, 'Say whose webhooks: --user NAME.')
  return withApi(given, work, { as, outgoing: await toOutgoing(given) })
}

/** A node has answered or given up by then. On files nobody knows whether one runs, so not much time is lost. */
function waitMs(given: Arguments): number {
  return findUrl(given) === undefined ? 2000 : 10_000
}

function toEvents(list: string | undefined): EventName[] | undefined {
  const names = list?.split(',').map((name) => name.trim())
  const unknown = names?.find((name) => !eventNames.includes(name as EventName))
  if (unknown !== undefined) throw new UsageError(`'${unknown}' is no event; there are ${eventNames.join(', ')}.`)
  return names as EventName[] | undefined
}

/** Null is every skill. */
function toSkills(given: Arguments): string[] | null | undefined {
  const list = text(given, 'skills')
  return list === 'all' ? null : list?.split(',').map((name) => name.trim())
}

function toActive(given: Arguments): boolean | undefined {
  if (flag(given, 'on') && flag(given, 'off')) throw new UsageError('Say --on or --off, not both.')
  return flag(given, 'on') ? true : flag(given, 'off') ? false : undefined
}

/** A secret on a command line would stand in the list of processes and in the shell's history. */
async function readSecret(given: Arguments): Promise<string | undefined> {
  const file = text(given, 'secret-file')
  if (file === undefined) return undefined
  const secret = (file === '-' ? await readAll(given.io.stdin) : readText(file)).replace(/\r?\n$/, '')
  if (secret === '') throw new UsageError(file === '-' ? 'No secret was written.' : `'${file}' holds no secret.`)
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
