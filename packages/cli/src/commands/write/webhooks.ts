import { setTimeout as sleep } from 'node:timers/promises'
import { eventNames, type Delivery, type RegistryApi, type Webhook, toOneLine } from '@skillstead/protocol'
import { UsageError, flag, textOption, type Arguments, type Options } from '../../command/command.ts'
import { listOption, choicesOption, readOptionFile } from '../../command/values.ts'
import { readWholeInput } from '../../command/read-whole-input.ts'
import { endpointCommand } from '../../registry/endpoint-command.ts'
import { apiCommand } from '../../registry/api-command.ts'
import { findUrl } from '../../registry/place.ts'

/** More characters than a secret can have: the node refuses a longer secret. */
const secretCharactersMax = 1000

const actor = 'owner of the webhooks'
const options: Options = { user: { value: 'NAME', help: 'the owner of the webhooks, with --data' } }

/** Settings of a new webhook, which `update` can change. */
const settings: Options = {
  events: { value: 'LIST', help: `any of ${eventNames.join(',')}` },
  skills: {
    value: 'LIST',
    help: 'the skills to notify about, as owner/name or owner/*, or the word all for every skill',
  },
  'secret-file': { value: 'FILE|-', help: 'a file with the secret that signs deliveries; - reads standard input' },
  'allow-networks': { value: 'CIDR,...', help: 'private networks that the webhook may deliver to, with --data' },
}

export const commands = {
  'webhooks list': endpointCommand('listWebhooks', {
    description: 'List webhooks with the result of their latest delivery.',
    actor,
    options,
    fixed: { limit: 100 },
    show: ({ webhooks, total }) => [...webhooks.flatMap(toWebhookLines), `${webhooks.length} of ${total}.`],
  }),
  'webhooks add': apiCommand({
    description: 'Create a webhook. Default secret: a new one, which is shown only once.',
    words: ['URL'],
    actor,
    options: { ...settings, ...options },
    async call(api, given) {
      const events = choicesOption(given, 'events', eventNames, 'an event')
      if (!events) throw new UsageError(`Events are missing. Pass --events LIST, any of ${eventNames.join(', ')}.`)
      return api.createWebhook({
        url: given.words[0],
        events,
        skills: readSkillPatterns(given),
        secret: await readSecret(given),
      })
    },
    show: ({ secret, ...webhook }) => [
      ...toWebhookLines(webhook),
      ...(secret === undefined ? [] : ['Its secret, shown only once:', secret]),
    ],
  }),
  'webhooks show': endpointCommand('getWebhook', {
    description: 'Show a webhook and its deliveries, newest first, with every attempt and its error.',
    words: { ID: 'id' },
    actor,
    options,
    show: ({ deliveries, ...webhook }) => [
      ...toWebhookLines(webhook),
      ...(deliveries.length === 0 ? ['No deliveries yet.'] : ['', ...deliveries.flatMap(toDeliveryLines)]),
    ],
  }),
  'webhooks update': apiCommand({
    description: 'Change a webhook. For one day after a change of its secret, both secrets sign.',
    words: ['ID'],
    actor,
    options: {
      to: { value: 'URL', help: 'the https address to deliver to' },
      on: { help: 'enable the webhook' },
      off: { help: 'disable the webhook' },
      ...settings,
      ...options,
    },
    async call(api, given) {
      const [id] = given.words
      const events = choicesOption(given, 'events', eventNames, 'an event')
      const active = toActive(given)
      const changes = {
        url: textOption(given, 'to'),
        events,
        skills: readSkillPatterns(given),
        active,
        secret: await readSecret(given),
      }
      if (Object.values(changes).every((change) => change === undefined))
        throw new UsageError('Nothing to change. Pass --to, --events, --skills, --on, --off or --secret-file.')
      return api.updateWebhook({ id, ...changes })
    },
    show: toWebhookLines,
  }),
  'webhooks remove': endpointCommand('deleteWebhook', {
    description: 'Delete a webhook. Its pending deliveries are dropped.',
    words: { ID: 'id' },
    actor,
    options,
    toResult: (_, { id }) => ({ removed: id }),
    show: ({ removed }) => [`Removed ${removed}.`],
  }),
  'webhooks ping': apiCommand({
    description: 'Send a test delivery and wait for its result. Exit code 1 when it fails.',
    words: ['ID'],
    actor,
    options,
    call: (api, given) => awaitAttempt(api, given, (id) => api.pingWebhook({ id })),
    show: showAttempt,
    hasFailed: ({ status }) => status === 'failed',
  }),
  'webhooks retry': apiCommand({
    description: 'Retry a pending or failed delivery at once. Exit code 1 when it fails for good.',
    words: ['ID', 'DELIVERY'],
    actor,
    options,
    call: (api, given) => awaitAttempt(api, given, (id) => api.retryDelivery({ id, deliveryId: given.words[1] })),
    show: showAttempt,
    hasFailed: ({ status }) => status === 'failed',
  }),
}

/** The skills that the option names; null means every skill. */
function readSkillPatterns(given: Arguments): string[] | null | undefined {
  return textOption(given, 'skills') === 'all' ? null : listOption(given, 'skills')
}

function toActive(given: Arguments): boolean | undefined {
  if (flag(given, 'on') && flag(given, 'off')) throw new UsageError('Pass --on or --off, not both.')
  return flag(given, 'on') ? true : flag(given, 'off') ? false : undefined
}

/** Reads the secret from a file: an argument would be visible in the process list and the shell history. */
async function readSecret(given: Arguments): Promise<string | undefined> {
  const file = textOption(given, 'secret-file')
  if (file === undefined) return undefined
  const secret = (
    file === '-' ? await readWholeInput(given.io, secretCharactersMax, 'a secret') : readOptionFile(file)
  ).replace(/\r?\n$/, '')
  if (secret === '')
    throw new UsageError(file === '-' ? 'Standard input has no secret.' : `'${file}' contains no secret.`)
  return secret
}

function toWebhookLines({ id, url, events, skills, active, lastDelivery }: Webhook): string[] {
  return [
    `${id}  ${active ? 'on ' : 'off'}  ${toOneLine(url)}`,
    `  events  ${events.join(', ')}`,
    `  skills  ${skills === null ? 'all' : skills.join(', ')}`,
    `  last    ${lastDelivery === null ? 'nothing yet' : `${lastDelivery.status} ${lastDelivery.at}`}`,
  ]
}

const pollMs = 250

/** Time to wait for a node's delivery, which has succeeded or failed by then. */
const nodeWaitMs = 10_000
/** The same time with --data, where the command does not know whether a node is running that delivers. */
const storeWaitMs = 2000

/** Begins an attempt of a delivery and waits for its end. Returns the delivery in its new state. */
async function awaitAttempt(
  api: RegistryApi,
  given: Arguments<readonly [id: string, ...string[]]>,
  begin: (id: string) => Promise<Delivery>,
): Promise<Delivery> {
  const [id] = given.words
  const begun = await begin(id)
  const until = performance.now() + (findUrl(given) === undefined ? storeWaitMs : nodeWaitMs)
  while (performance.now() < until) {
    await sleep(pollMs)
    const { deliveries } = await api.getWebhook({ id })
    const now = deliveries.find((delivery) => delivery.id === begun.id)
    // The node lists only the newest deliveries, and this delivery is no longer among them.
    if (!now) return begun
    if (now.status !== 'pending' || lastNumber(now) > lastNumber(begun)) return now
  }
  return begun
}

/** A delivery, its attempts and its result. */
function showAttempt(delivery: Delivery): string[] {
  return [...toDeliveryLines(delivery), toDeliveryOutcome(delivery)]
}

/** A delivery and its attempts, one per line: time, response status, duration, error. */
function toDeliveryLines({ id, event, status, attempts, nextAttemptAt }: Delivery): string[] {
  const next = nextAttemptAt === null ? '' : `, next attempt ${nextAttemptAt}`
  return [
    `${id}  ${event.padEnd(20)}  ${status}${next}`,
    ...attempts.map(({ number, at, statusCode, durationMs, error }) =>
      `  ${number}  ${at}  ${statusCode ?? '---'}  ${String(durationMs).padStart(5)} ms  ${toOneLine(error ?? '')}`.trimEnd(),
    ),
  ]
}

/** The result of a requested delivery in one sentence. */
function toDeliveryOutcome({ status, attempts, nextAttemptAt }: Delivery): string {
  const last = attempts.at(-1)
  if (status === 'delivered') return 'It was delivered.'
  if (status === 'failed') return `It failed: ${toOneLine(last?.error ?? 'unknown error.')}`
  if (nextAttemptAt !== null && Date.parse(nextAttemptAt) > Date.now())
    return 'It failed again and will be retried later.'
  return 'It was not attempted yet: a running node has to deliver it. See the result with `skillstead webhooks show`.'
}

function lastNumber({ attempts }: Delivery): number {
  return attempts.at(-1)?.number ?? 0
}
