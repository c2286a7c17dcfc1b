import { fileURLToPath } from 'node:url'
import { createSeen, WebhookError, type ReceiverOptions } from '@skillstead/client/webhooks'
import { describe, expect, it } from 'vitest'
import { runFile } from '../support/cli-harness.ts'
import { event, nowSeconds, openReceiver, outcomeOf, secret, sign } from '../support/signed-delivery.ts'

const url = 'https://receiver.example.com/hook'

function post(body: BodyInit | null = sign().body): Request {
  return new Request(url, { method: 'POST', headers: sign().headers, body, duplex: 'half' } as RequestInit)
}

/** A receiver, and the errors that its operator receives. */
function openHeard(options: Partial<ReceiverOptions> = {}) {
  const errors: unknown[] = []
  return { errors, receiver: openReceiver({ onError: (error) => void errors.push(error), ...options }) }
}

describe('a webhook receiver with invalid options', () => {
  it.each([
    { toleranceSeconds: NaN },
    { toleranceSeconds: -1 },
    { toleranceSeconds: Infinity },
    { toleranceSeconds: '300' as unknown as number },
    { bodyBytesMax: NaN },
    { bodyBytesMax: 0 },
  ])('throws when it is created, so that it never accepts unsigned deliveries: %o', (options) => {
    expect(() => openReceiver(options)).toThrow(TypeError)
    expect(() => openReceiver(options)).toThrow(Object.keys(options)[0])
  })

  it.each([NaN, 0, -1, 1.5, Infinity])('rejects %d as the number of stored event ids', (idsMax) => {
    expect(() => createSeen(idsMax)).toThrow(TypeError)
  })

  it.each([`${secret}\n`, ` ${secret}`, secret.replace('_', '_ '), secret.replace('l', '\tl')])(
    'reports whitespace around or in its secret: %j',
    (spaced) => {
      expect(() => openReceiver({ secret: [secret, spaced] })).toThrow(/whitespace/)
    },
  )

  it.each([[[]], [''], [['']], [[secret, '']], ['whsec_'], ['whsec_not base64!'], [[undefined as unknown as string]]])(
    'rejects the invalid secret %j',
    (none) => {
      expect(() => openReceiver({ secret: none })).toThrow(TypeError)
    },
  )

  it('reports a secret that is not a string', () => {
    for (const none of [Buffer.from(secret), 42, [{}]])
      expect(() => openReceiver({ secret: none as never })).toThrow(/secret is missing/)
  })

  it('rejects all deliveries if its clock returns no valid time', async () => {
    const { headers, body } = sign(event, { timestamp: 1 })
    expect(await outcomeOf(headers, body, { now: () => NaN })).not.toBe('taken')
    expect(await outcomeOf(headers, body, { now: () => Date.parse('noon') })).not.toBe('taken')
    expect(await outcomeOf(headers, body, { now: () => nowSeconds * 1000 })).toBe('too_old')
  })
})

describe('the example of a webhook receiver', () => {
  it('reports missing settings before it creates a webhook on the node', async () => {
    const file = fileURLToPath(new URL('../../examples/webhook-receiver.ts', import.meta.url))
    const halves: Record<string, string>[] = [{}, { SKILLSTEAD_KEY: 'ssk_x' }, { RECEIVER_HOST: 'example.com' }]
    for (const env of halves) {
      const { code, stdout, stderr } = await runFile(file, [], { env })
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      expect(stderr).toContain('Error: Set SKILLSTEAD_KEY and RECEIVER_HOST.')
    }
  })
})

describe('a webhook receiver of hostile deliveries', () => {
  it.each(['webhook-id', 'webhook-timestamp', 'x-service-signature', 'x-service-event'])(
    'rejects a delivery with two values of %s, in any order and as separate or joined headers',
    async (name) => {
      const { headers, body } = sign()
      const other = sign({ ...event, id: 'another' }, { secrets: ['forged'], timestamp: nowSeconds + 1 }).headers
      const twice = new Headers(headers)
      twice.append(name, other[name]!)
      const values = [headers[name]!, other[name]!]
      const { [name]: _, ...rest } = headers
      const forms = [twice, { ...headers, [name.toUpperCase()]: other[name]! }, { ...rest, [name]: values }]
      const joined = [values, values.toReversed()].map((both) => ({ ...rest, [name]: both.join(', ') }))
      for (const form of [...forms, ...joined]) expect(await outcomeOf(form, body)).toMatch(/malformed|bad_signature/)
    },
  )

  it('ignores inherited properties of the headers object', async () => {
    const { headers, body } = sign()
    expect(await outcomeOf(Object.create(headers), body)).toBe('missing_header')
    const later = sign({ ...event, event: 'constructor', data: JSON.parse('{"__proto__":{"x":1}}') })
    const taken = await openReceiver().verify(later.headers, later.body)
    expect(Object.getPrototypeOf(taken.data)).toBe(Object.prototype)
  })

  it('accepts one valid signature among invalid ones, up to a limit', async () => {
    const { headers, body } = sign()
    const signature = headers['webhook-signature']!
    const bad = `v1,${Buffer.alloc(32).toString('base64')}`
    const outcome = (...values: string[]) => outcomeOf({ ...headers, 'webhook-signature': values.join(' ') }, body)
    expect(await outcome(bad, signature)).toBe('taken')
    expect(await outcome('v1,', 'v1,!', bad, signature)).toBe('taken')
    expect(await outcome(bad, bad)).toBe('bad_signature')
    expect(await outcome(...Array(1000).fill(bad), signature)).toBe('bad_signature')
  })

  it('rejects invalid signatures of any length with the same error', async () => {
    const { headers, body } = sign()
    for (const length of [4, 40, 4_000, 4_000_000]) {
      const changed = { ...headers, 'webhook-signature': `v1,${'A'.repeat(length)}` }
      expect(await outcomeOf(changed, body)).toBe('bad_signature')
    }
  })

  it('reads a body whose chunks are one byte each and share one reused buffer', async () => {
    const bytes = new TextEncoder().encode(sign().body)
    const piece = new Uint8Array(1)
    let at = 0
    const dripping = new ReadableStream(
      {
        pull(controller) {
          piece.set(bytes.subarray(at, ++at))
          if (at > bytes.length) controller.close()
          else controller.enqueue(piece)
        },
      },
      { highWaterMark: 0 },
    )
    const { errors, receiver } = openHeard()
    const response = await receiver.fetch(post(dripping), (each) => expect(each).toEqual(event))
    expect([response.status, errors]).toEqual([204, []])
  })

  it('rejects a request whose body is aborted, without reporting an error to the operator', async () => {
    const broken = new ReadableStream({
      pull(controller) {
        controller.error(new Error('The connection was reset.'))
      },
    })
    const { errors, receiver } = openHeard()
    const response = await receiver.fetch(post(broken), () => expect.unreachable())
    expect([response.status, errors]).toEqual([400, []])
  })
})

describe('a webhook receiver in a program with errors', () => {
  it.each([
    new WebhookError('bad_signature', 'Of another webhook, which the handler verified.'),
    new WebhookError('unknown' as 'malformed', 'A code that no status stands for.'),
  ])('treats everything that the handler throws as a failure, even an error of the receiver: %o', async (failure) => {
    const { errors, receiver } = openHeard()
    const response = await receiver.fetch(post(), () => Promise.reject(failure))
    expect([response.status, await response.text()]).toEqual([500, expect.not.stringContaining(failure.message)])
    expect(errors).toEqual([failure])
    expect((await receiver.fetch(post(), () => {})).status).toBe(204)
  })

  it.each([
    () => {
      throw new Error('The log is full.')
    },
    () => Promise.reject(new Error('The log is full.')),
  ])('responds even if the error callback itself fails: %o', async (onError) => {
    const said: unknown[] = []
    const { error: sayError } = console
    console.error = (...words) => void said.push(...words)
    try {
      const { receiver } = openHeard({ onError })
      const response = await receiver.fetch(post(), () => Promise.reject(new Error('no')))
      expect(response.status).toBe(500)
      await expect.poll(() => said).toMatchObject([{ message: 'The log is full.' }])
    } finally {
      console.error = sayError
    }
  })

  it('rejects a body that was already parsed, and asks for the raw body', async () => {
    const { headers, body } = sign()
    await expect(openReceiver().verify(headers, JSON.parse(body))).rejects.toThrow(TypeError)
  })

  it('reports that a body was already read, instead of reporting an invalid signature', async () => {
    const read = post()
    await read.json()
    const locked = post()
    locked.body!.getReader()
    for (const request of [read, locked]) {
      const { errors, receiver } = openHeard()
      expect((await receiver.fetch(request, () => expect.unreachable())).status).toBe(500)
      expect(errors).toMatchObject([{ name: 'TypeError', message: expect.stringContaining('an unread request') }])
    }
  })

  it('reports the error of the handler even if the store cannot release the event id', async () => {
    const { claim, forget } = createSeen()
    const away = new Error('The database is away.')
    let failures = 2
    const seen = {
      claim,
      forget: async (id: string) => {
        if (failures-- > 0) throw away
        return forget(id)
      },
    }
    const failure = new Error('The handler needs the database, too.')
    const { errors, receiver } = openHeard({ seen })
    const first = await receiver.fetch(post(), () => Promise.reject(failure))
    expect([first.status, errors]).toEqual([500, [expect.objectContaining({ errors: [failure, away] })]])
    let handled = 0
    const again = async () => (await receiver.fetch(post(), () => void handled++)).status
    expect([await again(), handled]).toEqual([500, 0])
    expect([await again(), handled]).toEqual([204, 1])
    expect([await again(), handled]).toEqual([204, 1])
  })
})
