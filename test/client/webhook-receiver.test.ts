import { createHmac } from 'node:crypto'
import type { WebhookHeaders } from '@skillstead/client/webhooks'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { signService, signStandard } from '../../packages/core/src/webhooks/signatures.ts'
import {
  event,
  nowSeconds,
  openReceiver,
  otherSecret,
  outcomeOf,
  secret,
  sign,
  without,
} from '../support/signed-delivery.ts'

function toTitle(name: string): string {
  return name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
}

/** Replaces one byte with another. */
function changeByte(text: string, position: number, byte: number): string | undefined {
  const bytes = Buffer.from(text)
  const at = position % bytes.length
  if (bytes[at] === byte) return undefined
  bytes[at] = byte
  return bytes.toString('latin1')
}

describe('a webhook receiver', () => {
  it('returns the event of a delivery', async () => {
    const { headers, body } = sign()
    expect(await openReceiver().verify(headers, body)).toEqual(event)
  })

  it('accepts signatures by the standardwebhooks package, which in turn accepts the signatures of a node', async () => {
    const body = JSON.stringify(event)
    const now = Date.now()
    const official = new Webhook(secret)
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(Math.floor(now / 1000)),
      'webhook-signature': official.sign(event.id, new Date(now), body),
      'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }
    expect(await openReceiver({ now: () => now }).verify(headers, body)).toEqual(event)
    const ours = sign(event, { timestamp: Math.floor(now / 1000) })
    expect(official.verify(ours.body, ours.headers)).toEqual(event)
  })

  it('uses the UTF-8 bytes of a secret without the whsec_ prefix as the key', async () => {
    const { headers, body } = sign(event, { secrets: [otherSecret] })
    expect(await outcomeOf(headers, body, { secret: otherSecret })).toBe('taken')
    const raw = new Webhook(Buffer.from(otherSecret), { format: 'raw' })
    const signature = raw.sign(event.id, new Date(nowSeconds * 1000), body)
    expect(headers['webhook-signature']).toBe(signature)
  })

  it('accepts a body as text or bytes, also as a view of a larger buffer', async () => {
    const { headers, body } = sign()
    const bytes = new TextEncoder().encode(body)
    const part = new Uint8Array([0, ...bytes, 0]).subarray(1, -1)
    for (const form of [body, bytes, Buffer.from(body), bytes.buffer, part]) {
      expect(await openReceiver().verify(headers, form)).toEqual(event)
    }
  })

  it('accepts headers of fetch and of Node, in upper or lower case', async () => {
    const { headers, body } = sign()
    const entries = Object.entries(headers)
    const forms: WebhookHeaders[] = [
      new Headers(headers),
      Object.fromEntries(entries.map(([name, value]) => [toTitle(name), value])),
      Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), [value]])),
      { ...headers, 'x-other': undefined, get: 'a header of this name', cookie: ['a=1', 'b=2'] },
    ]
    for (const form of forms) expect(await openReceiver().verify(form, body)).toEqual(event)
  })

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-signature'])(
    'rejects a delivery without %s',
    async (name) => {
      const { headers, body } = sign()
      expect(await outcomeOf(without(headers, name), body)).toBe('missing_header')
      expect(await outcomeOf({ ...headers, [name]: ' ' }, body)).toBe('missing_header')
      expect(await outcomeOf({ ...headers, [name]: [] }, body)).toBe('missing_header')
    },
  )

  it('rejects a delivery if any byte was changed', async () => {
    const { headers, body } = sign()
    const signed = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-signature']
    const byte = fc.integer({ min: 0, max: 255 })
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('body', ...signed), fc.nat(), byte, async (part, position, to) => {
        const changed = changeByte(part === 'body' ? body : headers[part]!, position, to)
        fc.pre(changed !== undefined)
        const outcome = await (part === 'body'
          ? outcomeOf(headers, Buffer.from(changed!, 'latin1'))
          : outcomeOf({ ...headers, [part]: changed }, body))
        expect(outcome).not.toBe('taken')
      }),
      { numRuns: 2000 },
    )
  })

  it('rejects a delivery with missing or additional bytes', async () => {
    const { headers, body } = sign()
    for (const other of ['', body.slice(1), body.slice(0, -1), `${body}\n`, ` ${body}`, `${body}${body}`]) {
      expect(await outcomeOf(headers, other)).toBe('bad_signature')
    }
  })

  it('accepts any text signed with its secret, and rejects any text signed with another secret', async () => {
    const anySecret = fc.oneof(
      fc.string({ minLength: 1 }).filter((text) => !text.startsWith('whsec_')),
      fc.uint8Array({ minLength: 1, maxLength: 64 }).map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`),
    )
    const name = fc.string({ unit: 'grapheme', minLength: 1 })
    await fc.assert(
      fc.asyncProperty(anySecret, anySecret, name, async (own, other, username) => {
        const sent = { ...event, data: { ...event.data, follower: { ...event.data.follower, username } } }
        const { headers, body } = sign(sent, { secrets: [own] })
        expect(await openReceiver({ secret: own }).verify(headers, body)).toEqual(sent)
        const isSame = signService(own, '') === signService(other, '')
        expect(await outcomeOf(headers, body, { secret: other })).toBe(isSame ? 'taken' : 'bad_signature')
      }),
    )
  })

  it.each([
    ['upper case', (hex: string) => hex.toUpperCase().replace('SHA256', 'sha256')],
    ['another algorithm', (hex: string) => hex.replace('sha256', 'sha1')],
    ['no algorithm', (hex: string) => hex.replace('sha256=', '')],
    ['too short', (hex: string) => hex.slice(0, -1)],
    ['too long', (hex: string) => `${hex}0`],
  ])('rejects an X-Service-Signature in another format: %s', async (_, write) => {
    const { headers, body } = sign()
    const changed = { ...headers, 'x-service-signature': write(headers['x-service-signature']!) }
    expect(await outcomeOf(changed, body)).toBe('bad_signature')
  })

  it('rejects a signature in non-canonical base64', async () => {
    const { headers, body } = sign()
    const signature = headers['webhook-signature']!
    const [last] = signature.slice(-2)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
    const spelling = `${signature.slice(0, -2)}${alphabet[alphabet.indexOf(last!) + 1]}=`
    expect(Buffer.from(spelling.slice(3), 'base64')).toEqual(Buffer.from(signature.slice(3), 'base64'))
    for (const other of [spelling, signature.slice(0, -1), `v1, ${signature.slice(3)}`]) {
      expect(await outcomeOf({ ...headers, 'webhook-signature': other }, body)).toBe('bad_signature')
    }
  })

  it('ignores signatures of unknown versions', async () => {
    const { headers, body } = sign()
    const signature = headers['webhook-signature']!
    const outcome = (value: string) => outcomeOf({ ...headers, 'webhook-signature': value }, body)
    expect(await outcome(`v1a,Zm9v ${signature} v2,${signature.slice(3)}`)).toBe('taken')
    expect(await outcome(signature.replace('v1', 'v1a'))).toBe('bad_signature')
    expect(await outcome(signature.replace('v1', 'v2'))).toBe('bad_signature')
    expect(await outcome(signature.slice(3))).toBe('bad_signature')
    // A signature of an unknown version does not indicate a rotation of the secret.
    const forged = { ...headers, 'webhook-signature': `v1a,Zm9v ${signature}`, 'x-service-signature': 'sha256=0' }
    expect(await outcomeOf(forged, body)).toBe('bad_signature')
  })

  describe('during a rotation of its secret', () => {
    const changing = { secrets: ['a new secret', secret] }

    it.each([[secret], ['a new secret'], [[secret, 'a new secret']], [['a new secret', secret]]])(
      'accepts deliveries if it knows the secrets %j',
      async (known) => {
        const { headers, body } = sign(event, changing)
        expect(await outcomeOf(headers, body, { secret: known })).toBe('taken')
      },
    )

    it('rejects deliveries signed with any other secret, or without an X-Service-Signature', async () => {
      const { headers, body } = sign(event, changing)
      expect(await outcomeOf(headers, body, { secret: otherSecret })).toBe('bad_signature')
      expect(await outcomeOf(without(headers, 'x-service-signature'), body)).toBe('missing_header')
    })

    it('rejects deliveries signed with the old secret after the rotation', async () => {
      const { headers, body } = sign(event, { secrets: ['a new secret'] })
      expect(await outcomeOf(headers, body)).toBe('bad_signature')
      expect(await outcomeOf(headers, body, { secret: [secret, 'a new secret'] })).toBe('taken')
    })
  })

  it('rejects a delivery in which the Webhook-Signature or the X-Service-Signature is invalid', async () => {
    const { headers, body } = sign()
    const other = sign(event, { secrets: [otherSecret] }).headers
    for (const name of ['x-service-signature', 'webhook-signature']) {
      expect(await outcomeOf({ ...headers, [name]: other[name]! }, body)).toBe('bad_signature')
    }
  })

  it.each([
    [-300, 'taken'],
    [-301, 'too_old'],
    [300, 'taken'],
    [301, 'too_new'],
    [-1e9, 'too_old'],
    [1e9, 'too_new'],
  ])('compares the timestamp with its clock: a difference of %d seconds is %s', async (offset, outcome) => {
    const { headers, body } = sign(event, { timestamp: nowSeconds + offset })
    for (const ms of [0, 999]) {
      expect(await outcomeOf(headers, body, { now: () => nowSeconds * 1000 + ms })).toBe(outcome)
    }
  })

  it('accepts a timestamp within the tolerance that an option sets', async () => {
    const { headers, body } = sign(event, { timestamp: nowSeconds - 11 })
    expect(await outcomeOf(headers, body, { toleranceSeconds: 11 })).toBe('taken')
    expect(await outcomeOf(headers, body, { toleranceSeconds: 10 })).toBe('too_old')
  })

  it.each(['soon', '-1', '1e9', '0x10', '1767355200.5', `${nowSeconds}000000`, ' ', '2026-01-02T12:00:00Z'])(
    'rejects a signed timestamp that is not a number of seconds: %s',
    async (timestamp) => {
      const { headers, body } = sign(event, { timestamp })
      expect(await outcomeOf(headers, body)).toBe(timestamp === ' ' ? 'missing_header' : 'malformed')
    },
  )

  it.each([
    ['no JSON', '{'],
    ['nothing', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no id', { ...event, id: undefined }],
    ['no event', { ...event, event: undefined }],
    ['a number for an event', { ...event, event: 1 }],
    ['no time', { ...event, timestamp: undefined }],
    ['a time that is none', { ...event, event: 'later.event', timestamp: 'today' }],
    ['no data', { ...event, data: undefined }],
    ['a list for data', { ...event, event: 'later.event', data: [] }],
    ['data of another event', { ...event, data: { webhook: { id: event.id } } }],
    ['a text for a number', { ...event, data: { ...event.data, followerCount: '3' } }],
  ])('rejects signed content that is not an event: %s', async (_, content) => {
    const { headers, body } = sign(content)
    expect(
      await outcomeOf(without({ ...headers, 'webhook-id': headers['webhook-id'] || 'x' }, 'x-service-event'), body),
    ).toBe('malformed')
  })

  it('rejects signed bytes that are not UTF-8', async () => {
    const body = Buffer.from(JSON.stringify(event).replace('zoë', 'zo\u00eb'), 'latin1')
    const content = Buffer.concat([Buffer.from(`${event.id}.${nowSeconds}.`), body])
    const key = Buffer.from(secret.slice(6), 'base64')
    const headers = {
      'webhook-id': event.id,
      'webhook-timestamp': String(nowSeconds),
      'webhook-signature': `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
      'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    }
    expect(await outcomeOf(headers, body)).toBe('malformed')
  })

  it('rejects a delivery whose headers name another event than the body', async () => {
    const { headers, body } = sign()
    expect(await outcomeOf({ ...headers, 'x-service-event': 'skill.starred' }, body)).toBe('malformed')
    expect(await outcomeOf(without(headers, 'x-service-event'), body)).toBe('taken')
    const other = sign({ ...event, id: '0194b0f5-7a52-7c39-a4f6-2f0fdd3a1f00' })
    const signing = { id: event.id, timestamp: nowSeconds, body: other.body }
    const mixed = {
      ...other.headers,
      'webhook-id': event.id,
      'webhook-signature': signStandard(secret, signing),
    }
    expect(await outcomeOf(mixed, other.body)).toBe('malformed')
  })

  it('passes unknown events and fields of later versions to its handler', async () => {
    const later = { ...event, event: 'skill.forked', data: { fork: { id: 1 } } }
    const more = { ...event, data: { ...event.data, since: 'today' }, origin: 'https://skills.example.com' }
    for (const content of [later, more]) {
      const { headers, body } = sign(content)
      expect(await openReceiver().verify(headers, body)).toEqual(content)
    }
  })

  it('accepts X-Service-Signature without Standard Webhooks headers only if an option allows it', async () => {
    const { headers, body } = sign(event, { timestamp: nowSeconds - 1e6 })
    const trio = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
    const alone = without(headers, ...trio)
    const told = { serviceSignatureAlone: true }
    expect(await outcomeOf(alone, body)).toBe('missing_header')
    expect(await outcomeOf(alone, body, told)).toBe('taken')
    expect(await outcomeOf(alone, `${body} `, told)).toBe('bad_signature')
    expect(await outcomeOf(alone, body, { ...told, secret: otherSecret })).toBe('bad_signature')
    expect(await outcomeOf(without(alone, 'x-service-signature'), body, told)).toBe('missing_header')
    expect(await outcomeOf(headers, body, told)).toBe('too_old')
    for (const name of trio) expect(await outcomeOf(without(headers, name), body, told)).not.toBe('taken')
  })
})
