import type { NameResolver } from '@skillstead/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createOutgoing } from '../../packages/core/src/http/outgoing.ts'
import { createSystemResolver } from '../../packages/core/src/http/name-resolver.ts'
import { codeOf, refusalOf } from '../support/answers.ts'

const loopback = { allowNetworks: ['127.0.0.1'] }
const nowhere: NameResolver = {
  lookup: () => Promise.reject(Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })),
  txt: () => Promise.reject(Object.assign(new Error('nothing'), { code: 'ENOTFOUND' })),
}

/** A resolver that returns these addresses for every name. */
function leadingTo(...addresses: string[]): NameResolver {
  return { ...nowhere, lookup: async () => addresses.map((address) => ({ address })) }
}

/** Whether a host that is in no DNS may be requested. */
async function isLetThrough(host: string): Promise<boolean> {
  try {
    await createOutgoing({ resolver: nowhere }).requirePublic(`https://${host}/`, 'target')
    return true
  } catch {
    return false
  }
}

const toBytes = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255)
const toNumber = (address: string) => address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0)

/** Checks a local name with two addresses, of which the first is listed. */
function checkLocal(address: string): Promise<URL> {
  const outgoing = createOutgoing({ ...loopback, resolver: leadingTo('127.0.0.1', address) })
  return outgoing.requirePublic('http://git.local/', 'target')
}

describe('an address that is not public', () => {
  const special = [
    ['127.0.0.1', '127.255.255.254', '0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '169.254.169.254'],
    [
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '192.0.0.8',
      '192.0.2.1',
      '192.88.99.1',
      '198.18.0.1',
      '168.63.129.16',
    ],
    ['198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ['[::]', '[::1]', '[::127.0.0.1]', '[::ffff:127.0.0.1]', '[::ffff:a00:1]', '[::ffff:0:a00:1]', '[::8.8.8.8]'],
    [
      '[::ffff:168.63.129.16]',
      '[64:ff9b::168.63.129.16]',
      '[64:ff9b::10.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[64:ff9b:1::1]',
      '[100::1]',
      '[2001::1]',
      '[2001:db8::1]',
    ],
    ['[2002:a00:1::]', '[2002:7f00:1::1]', '[2002:808:808::1]', '[3fff::1]', '[5f00::1]', '[fc00::1]', '[fd12::1]'],
    ['[fe80::1]', '[fec0::1]', '[ff02::1]', '[4000::1]', '[2001:0:a00:1::f5ff:fffe]'],
  ].flat()
  it.each(special)('is refused: %s', async (host) => {
    const outgoing = createOutgoing({ resolver: nowhere })
    const refusal = await refusalOf(outgoing.requirePublic(`https://${host}/x`, 'target'))
    expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'target' }] })
    expect(await codeOf(outgoing.get(`https://${host}/x`, { bytesMax: 1 }))).toBe('invalid_request')
  })

  it.each(special)('is refused if the host name resolves to the address: %s', async (host) => {
    const address = host.replace(/[[\]]/g, '')
    const outgoing = createOutgoing({ resolver: leadingTo('8.8.8.8', address) })
    const refusal = await refusalOf(outgoing.requirePublic('https://example.com/', 'target'))
    expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'target' }] })
    expect(refusal.message).not.toContain(address)
    expect(await codeOf(outgoing.get('https://example.com/', { bytesMax: 1 }))).toBe('invalid_request')
  })

  it.each(
    [
      ['2130706433', '0x7f000001', '017700000001', '0177.0.0.1', '0x7f.0.0.1', '127.1', '127.0.1', '127.0.0.1.'],
      ['１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1', '0xa9fea9fe', '2852039166', '[0:0:0:0:0:0:0:1]', '0'],
      ['[::ffff:7f00:0001]', '[::FFFF:127.0.0.1]', '[0:0:0:0:0:ffff:127.0.0.1]', '127.0.0.1..', '0x7f.0x1.'],
      ['[fe80::1%25eth0]', '[::1%25lo]', '[fe80::1%eth0]'],
    ].flat(),
  )('is refused in any notation: %s', async (host) => {
    const outgoing = createOutgoing({ resolver: nowhere })
    expect(await codeOf(outgoing.requirePublic(`http://${host}/`, 'target'))).toBe('invalid_request')
  })

  it.each(
    [
      ['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', 'printer.local', 'metadata.google.internal', 'internal'],
      ['localhost.localdomain', 'nas.home.arpa', 'printer.local.', 'lo%63alhost', 'localhost..', 'a.b.localhost.'],
    ].flat(),
  )('is refused because of its host name, whatever the name resolves to: %s', async (host) => {
    for (const resolver of [nowhere, leadingTo('8.8.8.8'), leadingTo('127.0.0.1')]) {
      const outgoing = createOutgoing({ resolver })
      expect(await codeOf(outgoing.requirePublic(`http://${host}/`, 'target'))).toBe('invalid_request')
    }
  })

  it.each([1, 22, 25, 53, 110, 143, 465, 587, 993, 2049, 5060, 6000, 6667, 10080])(
    'is refused if the URL has the port of another protocol: %i',
    async (port) => {
      const outgoing = createOutgoing({ resolver: leadingTo('8.8.8.8') })
      const refusal = await refusalOf(outgoing.requirePublic(`https://example.com:${port}/`, 'target'))
      expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'target' }] })
      expect(refusal.message).toBe(`target must not use the port ${port}, which belongs to another protocol.`)
    },
  )

  it('is refused if the host name resolves to the IPv6 address with a zone index', async () => {
    for (const address of ['fe80::1%eth0', '::1%lo']) {
      const outgoing = createOutgoing({ resolver: leadingTo(address) })
      expect(await codeOf(outgoing.requirePublic('https://example.com/', 'target'))).toBe('invalid_request')
    }
  })

  it('is recognised by its numeric value in any notation', async () => {
    const number = fc.nat({ max: 2 ** 32 - 1 })
    const inside = fc.constantFrom('10.0.0.0', '127.0.0.0', '172.16.0.0', '192.168.0.0', '169.254.0.0', '100.64.0.0')
    const local = fc.tuple(inside, fc.nat({ max: 2 ** 16 - 1 })).map(([start, n]) => toNumber(start) + n)
    await fc.assert(
      fc.asyncProperty(fc.oneof(number, local), async (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = toBytes(address)
        const octal = [a, b, c, d].map((byte) => `0${byte.toString(8)}`).join('.')
        const hex = address.toString(16).padStart(8, '0')
        const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
        const forms = [
          `${address} 0x${hex} 0${address.toString(8)} ${octal} ${a}.${b}.${c * 256 + d} ${a}.${address % 2 ** 24}`,
          `${a}.${b}.${c}.${d}. [::ffff:${groups}] [64:ff9b::${groups}]`,
        ].flatMap((some) => some.split(' '))
        const expected = await isLetThrough([a, b, c, d].join('.'))
        for (const form of forms) expect([form, await isLetThrough(form)]).toEqual([form, expected])
      }),
    )
  })

  it.each(
    [
      ['ftp://example.com/', 'file:///etc/passwd', 'gopher://example.com/', 'data:,x', 'javascript:1', 'example.com'],
      ['', 'https://', 'https://user@example.com/', 'https://user:pass@example.com/', 'https://:pass@example.com/'],
      ['unix:/run/x.sock', 'ws://example.com/', '//example.com/', 'http://exa mple.com/', 'http://[::1'],
      ['blob:https://a.b/'],
    ].flat(),
  )('may not be requested: %s', async (address) => {
    const outgoing = createOutgoing({ resolver: leadingTo('8.8.8.8') })
    const refusal = await refusalOf(outgoing.requirePublic(address, 'target'))
    expect(refusal).toMatchObject({ code: 'invalid_request', errors: [{ path: 'target' }] })
    expect(await codeOf(outgoing.get(address, { bytesMax: 1 }))).toBe('invalid_request')
  })
})

describe('an allowed address', () => {
  it.each([
    'https://8.8.8.8/',
    'http://[2606:4700::1111]:8080/x',
    'https://[64:ff9b::808:808]/',
    'https://EXAMPLE.com./',
    'https://example.com:8443/',
    'http://example.com:65535/',
    'https://example.com:080/',
  ])('is accepted: %s', async (address) => {
    const outgoing = createOutgoing({ resolver: nowhere })
    expect((await outgoing.requirePublic(address, 'target')).href).toBe(new URL(address).href)
  })

  it.each([
    [['127.0.0.0/8'], 'http://127.0.0.1/', true],
    [['127.0.0.1'], 'http://127.0.0.1/', true],
    [['127.0.0.1'], 'http://[::ffff:127.0.0.1]/', true],
    [['127.0.0.1'], 'http://127.0.0.2/', false],
    [['10.1.0.0/16'], 'http://10.1.2.3/', true],
    [['10.1.0.0/16'], 'http://10.2.2.3/', false],
    [['fd00:1::/32', '10.0.0.0/8'], 'http://[fd00:1::5]/', true],
    [['fd00:1::/32'], 'http://[fd00:2::5]/', false],
    [['0.0.0.0/0'], 'http://[::1]/', false],
  ])('is private only in a network that the operator lists: %j and %s', async (allowNetworks, address, passes) => {
    const outgoing = createOutgoing({ allowNetworks, resolver: nowhere })
    const hasPassed = await outgoing.requirePublic(address, 'target').then(
      () => true,
      () => false,
    )
    expect(hasPassed).toBe(passes)
  })

  it('can have a local host name only if every address of the name is allowed', async () => {
    await checkLocal('127.0.0.1')
    expect(await codeOf(checkLocal('127.0.0.2'))).toBe('invalid_request')
    expect(await codeOf(checkLocal('8.8.8.8'))).toBe('invalid_request')
  })

  it.each([
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0/8',
    'example.com',
    '',
    '10.0.0.0/8/8',
    '0x0a.0.0.0/8',
    '::/129',
    '::/-1',
  ])('is not listed by an invalid network: %j', (network) => {
    expect(() => createOutgoing({ allowNetworks: [network] })).toThrow('is not a network')
  })
})

describe("the system's resolver", () => {
  it('uses the hosts file, also for many concurrent look-ups', async () => {
    const resolver = createSystemResolver()
    const answers = await Promise.all(Array.from({ length: 10 }, () => resolver.lookup('localhost')))
    for (const addresses of answers) {
      expect(addresses.length).toBeGreaterThan(0)
      for (const { address } of addresses) expect(['127.0.0.1', '::1']).toContain(address)
    }
  })
})
