import { createSeen, WebhookError, type Receiver } from '@skillstead/client/webhooks'
import type { WebhookEvent } from '@skillstead/protocol'
import { describe, expect, it } from 'vitest'
import { event, openReceiver, secret, sign, without, type SignedDelivery } from '../support/signed-delivery.ts'

async function refuseAll(): Promise<void> {
  throw new Error('no')
}

/** Waits until the receiver has verified all earlier deliveries. */
async function settle(receiver: Receiver): Promise<void> {
  const { headers, body } = sign()
  for (let n = 0; n < 10; n++) await receiver.verify(headers, body)
}

describe('a webhook receiver that handles each event once', () => {
  it('handles an event, and reports a second delivery of the event as a duplicate', async () => {
    const { headers, body } = sign()
    const receiver = openReceiver()
    const handled: WebhookEvent[] = []
    const receive = () => receiver.receive(headers, body, (each) => void handled.push(each))
    expect([await receive(), await receive(), await receive()]).toEqual([true, false, false])
    expect(handled).toEqual([event])
  })

  it('does not handle a rejected delivery, and does not store its id', async () => {
    const { headers, body } = sign()
    const receiver = openReceiver()
    let handled = 0
    const handle = () => void handled++
    await expect(receiver.receive(headers, `${body} `, handle)).rejects.toThrow(WebhookError)
    expect(handled).toBe(0)
    expect(await receiver.receive(headers, body, handle)).toBe(true)
  })

  it('calls its handler once for concurrent deliveries of an event, and responds to all when the handler ends', async () => {
    const { headers, body } = sign()
    const receiver = openReceiver()
    const gate = Promise.withResolvers<void>()
    let handled = 0
    let answered = 0
    const deliveries = Array.from({ length: 20 }, async () => {
      const isNew = await receiver.receive(headers, body, () => {
        handled++
        return gate.promise
      })
      answered++
      return isNew
    })
    await expect.poll(() => handled).toBe(1)
    await settle(receiver)
    expect(answered).toBe(0)
    gate.resolve()
    expect((await Promise.all(deliveries)).filter(Boolean)).toHaveLength(1)
    expect(handled).toBe(1)
  })

  it('reports a failed handler to all concurrent deliveries, and calls the handler again for the next delivery', async () => {
    const { headers, body } = sign()
    const receiver = openReceiver()
    const failure = new Error('The disk is full.')
    const gate = Promise.withResolvers<void>()
    let calls = 0
    const handle = async () => {
      calls++
      await gate.promise
      if (calls === 1) throw failure
    }
    const waiting = [0, 1].map(() => receiver.receive(headers, body, handle))
    await settle(receiver)
    gate.resolve()
    for (const each of waiting) await expect(each).rejects.toBe(failure)
    expect(calls).toBe(1)
    expect(await receiver.receive(headers, body, handle)).toBe(true)
    expect(await receiver.receive(headers, body, handle)).toBe(false)
    expect(calls).toBe(2)
  })

  it('uses a custom store of handled event ids', async () => {
    const { headers, body } = sign()
    const asked: string[] = []
    const ids = new Set<string>()
    const seen = {
      claim: async (id: string) => {
        asked.push(`claim ${id}`)
        return !ids.has(id) && Boolean(ids.add(id))
      },
      forget: async (id: string) => {
        asked.push(`forget ${id}`)
        ids.delete(id)
      },
    }
    await expect(openReceiver({ seen }).receive(headers, body, refuseAll)).rejects.toThrow('no')
    expect(await openReceiver({ seen }).receive(headers, body, () => {})).toBe(true)
    expect(await openReceiver({ seen }).receive(headers, body, refuseAll)).toBe(false)
    const { id } = event
    expect(asked).toEqual([`claim ${id}`, `forget ${id}`, `claim ${id}`, `claim ${id}`])
  })

  it('stores the ids of the latest events, up to the configured number', async () => {
    const seen = createSeen(2)
    const claims = (ids: string) => Array.from(ids, (id) => seen.claim(id))
    expect(claims('aba')).toEqual([true, true, false])
    expect(claims('c')).toEqual([true])
    expect(claims('a')).toEqual([false])
    expect(claims('b')).toEqual([true])
    await seen.forget('a')
    expect(claims('a')).toEqual([true])
  })
})

describe('a webhook receiver as a fetch handler', () => {
  const url = 'https://receiver.example.com/hook'
  const post = ({ headers, body }: SignedDelivery, init: RequestInit = {}) =>
    new Request(url, { method: 'POST', headers, body, ...init })

  it('returns 204 for every delivery of an event, and handles the event once', async () => {
    const receiver = openReceiver()
    const handled: WebhookEvent[] = []
    for (let n = 0; n < 3; n++) {
      const response = await receiver.fetch(post(sign()), (each) => void handled.push(each))
      expect([response.status, await response.text()]).toEqual([204, ''])
    }
    expect(handled).toEqual([event])
  })

  it.each([
    ['a changed body', 401, 'bad_signature', () => ({ ...sign(), body: '{}' })],
    ['a missing header', 401, 'missing_header', () => ({ ...sign(), headers: {} })],
    ['an old signature', 401, 'too_old', () => sign(event, { timestamp: 1 })],
    ['no event', 400, 'malformed', () => sign('{}')],
  ])('returns an error in JSON for %s', async (_, status, code, make) => {
    const delivery = make()
    if (code === 'malformed') delivery.headers = without(delivery.headers, 'x-service-event')
    const response = await openReceiver().fetch(post(delivery), () => expect.unreachable())
    expect(response.status).toBe(status)
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = (await response.json()) as object
    expect(problem).toEqual({ type: 'about:blank', status, code, detail: expect.stringMatching(/^[A-Z].+\.$/) })
    expect(JSON.stringify(problem)).not.toContain(secret.slice(6))
  })

  it('returns 405 for other methods than POST', async () => {
    const response = await openReceiver().fetch(new Request(url), () => expect.unreachable())
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it('reads a body only up to its size limit, with or without a Content-Length', async () => {
    const { headers, body } = sign()
    const exact = Buffer.byteLength(body)
    const receiver = openReceiver({ bodyBytesMax: exact })
    expect((await receiver.fetch(post({ headers, body }), () => {})).status).toBe(204)
    const smaller = openReceiver({ bodyBytesMax: exact - 1 })
    expect((await smaller.fetch(post({ headers, body }), () => {})).status).toBe(413)
    const told = post({ headers: { ...headers, 'content-length': '2000000' }, body })
    expect((await openReceiver().fetch(told, () => {})).status).toBe(413)
    let pulled = 0
    const endless = new ReadableStream({
      pull(controller) {
        pulled++
        controller.enqueue(new Uint8Array(100_000))
      },
    })
    const request = new Request(url, { method: 'POST', headers, body: endless, duplex: 'half' } as RequestInit)
    const response = await openReceiver().fetch(request, () => expect.unreachable())
    expect(await response.json()).toMatchObject({ status: 413, code: 'too_large' })
    expect(pulled).toBeLessThan(15)
  })

  it('returns 500 without details if the handler fails, and reports the error to the operator', async () => {
    const errors: unknown[] = []
    const receiver = openReceiver({ onError: (error) => void errors.push(error) })
    const failure = new Error('password=hunter2')
    const failed = await receiver.fetch(post(sign()), () => Promise.reject(failure))
    expect(failed.status).toBe(500)
    expect(await failed.text()).not.toContain('hunter2')
    expect(errors).toEqual([failure])
    expect((await receiver.fetch(post(sign()), () => {})).status).toBe(204)
  })
})
