import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { text as readAll } from 'node:stream/consumers'
import { join } from 'node:path'
import { createClient } from '@skillstead/client'
import { localApi, systemCaller } from '@skillstead/core'
import { partsOf } from '@skillstead/core/internal'
import type { Delivery, Webhook } from '@skillstead/protocol'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeFolder, skillstead, skillsteadJson, startServer, type Running } from '../support/cli-harness.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import { openRegistry } from '../support/open-registry.ts'

const webhooks = (...args: string[]) => skillstead(['webhooks', ...args])

describe('the commands about webhooks', () => {
  const secret = 'a secret of the house'
  const received: { event: string; signature: string; body: string }[] = []
  const allowed = ['--allow-networks', '127.0.0.0/8,::1/128']
  let outside: Outside
  let folder: string
  let data: string
  let address: string
  let secretFile: string
  let keys: { alice: string; bob: string }
  let node: Running | undefined
  let answer = 204
  beforeAll(async () => {
    outside = await openOutside(['localhost'])
    outside.pages.set('localhost/hook', receive)
    const [{ port } = {}] = await outside.resolver.lookup('localhost')
    address = `https://localhost:${port}/hook`
    folder = await makeFolder()
    data = join(folder, 'data')
    secretFile = join(folder, 'secret')
    await writeFile(secretFile, `${secret}\n`)
    await writeFile(join(folder, 'ca.pem'), outside.ca)
    const admin = await skillsteadJson<{ key: string }>(['users', 'create', 'alice', '--data', data])
    const registry = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
    const bob = await localApi(registry, systemCaller).createUser({ username: 'bob', plan: 'free' })
    const dueAt = Date.now() - 185 * 60_000
    await partsOf(registry).database.writer.write((trx) =>
      partsOf(registry).outbox.enqueue(trx, { topic: 'topic.without.handler', payload: {}, dueAt }),
    )
    await registry.close()
    keys = { alice: admin.key, bob: bob.key }
  })
  afterAll(async () => {
    await node?.stop()
    await outside.close()
  })

  const receive: RequestListener = async (request, response) => {
    const { 'x-service-event': event, 'x-service-signature': signature } = request.headers as Record<string, string>
    received.push({ event: event!, signature: signature!, body: await readAll(request) })
    response.writeHead(answer).end()
  }
  const onFiles = () => ['--user', 'alice', '--data', data]
  const onNode = async (key = keys.alice) => {
    const trusting = ['--ca', join(folder, 'ca.pem'), '--webhook-off-after', '1']
    node ??= await startServer(['serve', '--port', '0', '--data', data, ...allowed, ...trusting])
    return ['--url', node.url, '--key', key]
  }

  it('write deliveries to the outbox, and `doctor` reports how many deliveries wait and for how long', async () => {
    const { code, stdout } = await skillstead(['doctor', '--data', data])
    expect(code).toBe(0)
    expect(stdout).toMatch(/outbox +0 failed, 1 waiting, one of them overdue for 3 h: does a node run\?\n/)
  })

  it('create a webhook in a data folder with a secret from a file; its deliveries are sent once a node runs', async () => {
    const chosen = ['--events', 'skill.starred,user.followed', '--skills', 'alice/*', '--secret-file', secretFile]
    const made = await skillsteadJson<Webhook>(['webhooks', 'add', address, ...chosen, ...allowed, ...onFiles()])
    expect(made).toMatchObject({ url: address, events: ['skill.starred', 'user.followed'], skills: ['alice/*'] })
    expect(made).not.toHaveProperty('secret')
    const sent = await webhooks('ping', made.id, ...onFiles())
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    expect(sent.stdout).toMatch(/ {2}ping +pending, next attempt .*\nIt was not attempted yet: a running node .*\n$/)
    expect(received).toEqual([])

    await onNode()
    await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 60_000 })
    const [{ event, signature, body }] = received as [(typeof received)[0]]
    expect(event).toBe('ping')
    expect(signature).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  })

  it('create a webhook on a node, show its secret only once, ping it and delete it', async () => {
    const place = await onNode()
    const added = await webhooks('add', address, '--events', 'skill.published', ...place)
    expect(added.stdout).toMatch(
      /^.* {2}on {3}https:.*\n.*skill\.published\n.* all\n.*nothing yet\nIts secret, .*:\nwhsec_/,
    )
    const [, id] = /^(\S+)/.exec(added.stdout)!
    const shown = added.stdout.trim().split('\n').at(-1)!
    const sent = await webhooks('ping', id!, ...place)
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    expect(sent.stdout).toMatch(/ping +delivered\n {2}1 {2}20\S+Z {2}204 {2}.* ms\nIt was delivered\.\n$/)

    for (const words of [['list'], ['show', id!]]) {
      const { stdout } = await webhooks(...words, ...place)
      expect(stdout).toContain(id)
      expect(stdout).not.toContain(shown)
      expect(stdout).not.toContain(secret)
    }
    expect(await skillsteadJson(['webhooks', 'remove', id!, ...place])).toEqual({ removed: id })
    expect(await webhooks('show', id!, ...place)).toEqual({
      code: 1,
      stdout: '',
      stderr: 'You have no webhook with this id.\n',
    })
  })

  it('report why a delivery failed, exit with 1, and retry the delivery on request', async () => {
    const place = await onNode()
    const { id } = await skillsteadJson<Webhook>(['webhooks', 'add', address, '--events', 'user.followed', ...place])
    answer = 500
    const sent = await webhooks('ping', id, ...place)
    expect(sent.code).toBe(1)
    expect(sent.stdout).toMatch(/ping +failed\n {2}1 {2}\S+ {2}500 {2}.* ms {2}(.*)\nIt failed: \1\n$/)
    const [, deliveryId] = /^(\S+)/.exec(sent.stdout)!
    answer = 204
    const again = await skillsteadJson<Delivery>(['webhooks', 'retry', id, deliveryId!, ...place])
    expect(again).toMatchObject({ id: deliveryId, status: 'delivered', nextAttemptAt: null })
    expect(again.attempts.map(({ statusCode }) => statusCode)).toEqual([500, 204])
    const shown = await webhooks('show', id, ...place)
    expect(shown.stdout).toMatch(
      / {2}last {4}delivered .*\n\n\S+ {2}ping +delivered\n {2}1 .* 500 .*\n {2}2 .* 204 .* ms\n$/,
    )
    const third = await webhooks('retry', id, deliveryId!, ...place)
    expect(third).toMatchObject({ code: 1, stdout: '' })
    expect(third.stderr).toMatch(/^This delivery was already delivered.*\.\n$/)
  })

  it('show that the node disabled a webhook after the configured number of failures', async () => {
    const place = await onNode()
    const { id } = await skillsteadJson<Webhook>(['webhooks', 'add', address, '--events', 'user.followed', ...place])
    answer = 500
    const registry = await openRegistry({ path: join(data, 'skillstead.db'), works: false })
    const payload = { webhookId: id, eventId: id, event: 'user.followed', body: '{}' }
    await partsOf(registry).database.writer.write(async (trx) => {
      await partsOf(registry).outbox.enqueue(trx, {
        topic: 'webhook.delivery',
        partition: id,
        host: 'localhost',
        payload,
      })
      await trx.updateTable('outbox').set({ attempts: 4 }).where('partition', '=', id).execute()
    })
    await registry.close()
    const api = createClient({ baseUrl: node!.url, apiKey: keys.alice })
    await vi.waitFor(
      async () =>
        expect(await api.getWebhook({ id })).toMatchObject({ active: false, deliveries: [{ status: 'failed' }] }),
      { timeout: 60_000 },
    )
    answer = 204
  })

  it('change only those settings of a webhook that the options give', async () => {
    const place = await onNode()
    const { id } = await skillsteadJson<Webhook>([
      ...(['webhooks', 'add', address, '--events', 'user.followed', '--skills', 'alice/*,bob/pdf'] as const),
      ...place,
    ])
    const off = await webhooks('update', id, '--off', ...place)
    expect(off.stdout).toMatch(/ off .*\n {2}events {2}user\.followed\n {2}skills {2}alice\/\*, bob\/pdf\n/)
    const wider = ['--on', '--events', 'skill.starred', '--skills', 'all', '--to', `${address}s`]
    const changed = await skillsteadJson<Webhook>(['webhooks', 'update', id, ...wider, ...onFiles(), ...allowed])
    expect(changed).toMatchObject({ active: true, events: ['skill.starred'], skills: null, url: `${address}s` })
    const inside = await webhooks('update', id, '--to', 'https://127.0.0.1/', ...onFiles())
    expect(inside).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^url must be on a public host, .*\.\n$/),
    })
  })

  it('print the URL of a webhook on one line, without terminal control characters', async () => {
    const place = await onNode()
    const api = createClient({ baseUrl: node!.url, apiKey: keys.alice })
    await api.createWebhook({ url: `${address}?\u001b[2J\u202e\n  events  none`, events: ['user.followed'] })
    const { stdout } = await webhooks('list', ...place)
    expect(stdout).toContain(`${address}? [2J events none\n`)
    for (const control of ['\u001b', '\u202e', '\n  events  none']) expect(stdout).not.toContain(control)
  })

  it('report that the plan of the user includes no webhooks, and disclose nothing about webhooks of other users', async () => {
    const place = await onNode(keys.bob)
    const { code, stdout, stderr } = await webhooks('list', ...place, '--json')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'plan_required' } })
  })

  it.each([
    [['add', 'https://example.com/'], 'Events are missing. Pass --events LIST'],
    [
      ['add', 'https://example.com/', '--events', 'skill.eaten'],
      "'skill.eaten' is not an event. Use any of skill.published,",
    ],
    [['add', 'https://example.com/', '--events', 'user.followed', '--secret-file', 'gone'], "'gone' cannot be read."],
    [['update', 'x'], 'Nothing to change. Pass --to,'],
    [['update', 'x', '--on', '--off'], 'Pass --on or --off, not both.'],
    [['retry', 'x'], 'DELIVERY is missing'],
    [['ping', 'x', '--secret', 'hunter2'], "Unknown option '--secret'"],
  ])('%j is a usage error in one sentence', async (args, sentence) => {
    const { code, stdout, stderr } = await webhooks(...args, ...onFiles())
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr).not.toContain('hunter2')
  })

  it('require the option --user for a data folder, and `serve` refuses an invalid number of failures', async () => {
    const ownerless = await webhooks('list', '--data', data)
    expect(ownerless).toEqual({
      code: 2,
      stdout: '',
      stderr: 'The owner of the webhooks is missing. Pass --user NAME.\n',
    })
    const many = await skillstead(['serve', '--webhook-off-after', 'many', '--data', data])
    expect(many).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining("'many' is not a number") })
  })
})
