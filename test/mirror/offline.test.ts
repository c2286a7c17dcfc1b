import { partsOf } from '@skillstead/core/internal'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { makeFolder, skillsteadJson, startServer } from '../support/cli-harness.ts'
import { describeDatabases, type TestRegistry } from '../support/harness.ts'
import { watchSockets } from '../support/mirror-reading-acts.ts'
import { openOutside, type Outside } from '../support/outside.ts'
import { dayMs, makeSubscriber, openReceiver, star, toOutgoing, untilDeliveries } from '../support/webhook-acts.ts'

describeDatabases('a registry in offline mode', (open) => {
  let outside: Outside
  beforeAll(async () => {
    outside = await openOutside(['example.com'])
  })
  afterAll(() => outside.close())

  const openOffline = () =>
    open({ outgoing: { ...toOutgoing(outside), offline: true }, webhooks: { offAfterFailures: 2 } })

  it('opens no socket, queries no name server, and keeps outgoing work pending', async () => {
    const test = await openOffline()
    const [sockets, questions] = [watchSockets(test), outside.questions.length]
    const receiver = openReceiver(outside)
    outside.pages.set('example.com/tea/SKILL.md', skillMd('tea'))
    const { user, id } = await makeSubscriber(test, receiver)
    await star(test, user, 5)
    await user.api.pingWebhook({ id })
    const { id: externalId } = await test.admin.api.addExternal({ url: 'https://example.com/tea/SKILL.md' })
    const { token } = await user.api.verifyAuthor({
      username: user.username,
      method: 'domain',
      proof: 'proof.example.com',
    })
    outside.txt.set('proof.example.com', [[token!]])
    for (let day = 0; day < 3; day += 1) {
      test.clock.advance(dayMs)
      await untilWorked(test)
    }
    const { deliveries, active } = await user.api.getWebhook({ id })
    expect(active, 'though it heard nothing').toBe(true)
    expect(new Set(deliveries.map(({ status, attempts }) => `${status} ${attempts.length}`))).toEqual(
      new Set(['pending 0']),
    )
    await user.api.retryDelivery({ id, deliveryId: deliveries[0]!.id })
    await untilWorked(test)
    const readIndexed = async () =>
      (await test.api().listExternal()).externalSkills.find((skill) => skill.id === externalId)!
    const readProof = async () => (await test.admin.api.listVerifications({})).verifications[0]!
    expect(await readIndexed()).toMatchObject({ scannedAt: null })
    expect(await readProof()).toMatchObject({ status: 'pending' })
    expect({ sockets, questions: outside.questions.length, requests: outside.requests }).toEqual({
      sockets: [],
      questions,
      requests: [],
    })

    const online = await open({ at: test.location, clock: test.clock, outgoing: toOutgoing(outside) })
    await untilDeliveries(
      user,
      id,
      Array.from(deliveries, () => 'delivered'),
    )
    await expect.poll(() => receiver.received.length).toBe(6)
    await expect.poll(readIndexed).toMatchObject({ verified: true })
    await expect.poll(readProof).toMatchObject({ status: 'verified' })
    await online.close()
  })

  it('returns the error offline for requests that need the network, and still scans submitted texts', async () => {
    const test = await openOffline()
    const sockets = watchSockets(test)
    await expect(test.admin.api.scanExternal({ url: 'https://example.com/tea/SKILL.md' })).rejects.toMatchObject({
      code: 'offline',
      status: 503,
    })
    await expect(test.admin.api.scanExternal({ url: 'acme/skills@tea' })).rejects.toMatchObject({ code: 'offline' })
    expect(await test.admin.api.scanExternal({ content: skillMd('tea') })).toMatchObject({ verdict: 'safe' })
    expect(sockets).toEqual([])
  })

  it('rejects URLs with private addresses without a DNS query', async () => {
    const test = await openOffline()
    for (const url of ['https://10.0.0.1/x', 'https://localhost/x', 'ftp://example.com/x'])
      await expect(test.admin.api.scanExternal({ url }), url).rejects.toMatchObject({ code: 'invalid_request' })
  })
})

describe('skillstead serve --network offline', () => {
  it('contacts no other host', async () => {
    const data = await makeFolder()
    const { key } = await skillsteadJson<{ key: string }>(['users', 'create', 'anna', '--data', data])
    const server = await startServer(['serve', '--network', 'offline', '--port', '0', '--data', data])
    onTestFinished(async () => void (await server.stop()))
    const answer = await fetch(`${server.url}/api/v1/external/scan`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ url: 'https://example.invalid/SKILL.md' }),
    })
    expect(answer.status).toBe(503)
    expect(answer.headers.get('retry-after'), 'waiting does not help').toBeNull()
    expect(await answer.json()).toMatchObject({ code: 'offline', detail: expect.stringContaining('offline mode') })
  })
})

/** Until the outbox has looked at all that is due: a row of another kind, written last, was done. */
async function untilWorked({ registry }: TestRegistry): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  partsOf(registry).outbox.handle('test', { retryDelaysMs: [], handle: async () => resolve() })
  await partsOf(registry).database.writer.write((trx) =>
    partsOf(registry).outbox.enqueue(trx, { topic: 'test', payload: {} }),
  )
  await promise
}
