import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { skillMd } from '../support/answers.ts'
import { describeDatabases, type TestRegistry, type TestUser } from '../support/harness.ts'
import { openOutside, openPlain, type Outside } from '../support/outside.ts'
import { minuteMs, star } from '../support/webhook-acts.ts'

/** The behaviour of a receiver, and the error that its owner sees. */
interface Way {
  readonly respond: (response: ServerResponse, request: IncomingMessage) => void
  readonly status: 'pending' | 'delivered'
  readonly statusCode: number | null
  readonly error: string | null
}

const origin = 'https://receiver.example.com'
const failed = (reason: string) => `The request to ${origin} failed: ${reason}.`
const timedOut = `The request to ${origin} timed out.`
const closes = failed('the host closed the connection before the response was complete')
const noHttp = failed('the response is not valid HTTP')
const notPublic = 'url must be on a public host, not in a local or private network.'
const failing = (error: string, respond: Way['respond'], statusCode: number | null = null): Way => ({
  respond,
  status: 'pending',
  statusCode,
  error,
})
const arriving = (statusCode: number, respond: Way['respond']): Way => ({
  respond,
  status: 'delivered',
  statusCode,
  error: null,
})
const moved = (status: number) =>
  failing(
    `The receiver answered with a redirect (${status}), which is not followed. Set the webhook to the final URL.`,
    (response) => response.writeHead(status, { location: 'https://elsewhere.example.com/' }).end(),
    status,
  )
const refusing = (status: number) =>
  failing(
    `The receiver answered with ${status}; a response of 2xx is needed.`,
    (response) => response.writeHead(status).end(),
    status,
  )

/** Calls back at an interval until the connection is closed. */
function every(ms: number, { socket }: IncomingMessage, tick: () => void): void {
  const timer = setInterval(tick, ms)
  socket.on('close', () => clearInterval(timer))
}

/** Receivers with correct TLS, by host. */
const ways: Record<string, Way> = {
  hangs: failing(timedOut, () => {}),
  'drips-headers': failing(timedOut, (_response, request) => {
    request.socket.write('HTTP/1.1 200 OK\r\n')
    every(100, request, () => request.socket.write('x-a: b\r\n'))
  }),
  'is-late': failing(timedOut, (response) => setTimeout(() => response.end(), 6000).unref()),
  'drips-body': arriving(200, (response, request) => {
    response.writeHead(200).flushHeaders()
    every(50, request, () => response.write('x'))
  }),
  'sends-a-gigabyte': arriving(200, (response) => {
    response.writeHead(200, { 'content-length': 1e9 })
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16 * 1024)));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }),
  resets: failing(closes, (_response, { socket }) => socket.destroy()),
  closes: failing(closes, (_response, { socket }) => socket.end()),
  'is-no-http': failing(noHttp, (_response, { socket }) => socket.end('220 a secret banner\r\n')),
  continues: failing(noHttp, (response, request) => every(1, request, () => response.writeContinue())),
  works: failing(failed('the host could not be reached'), (response, request) =>
    every(1, request, () => response.writeProcessing()),
  ),
  'is-301': moved(301),
  'is-302': moved(302),
  'is-304': refusing(304),
  'is-307': moved(307),
  'is-500': refusing(500),
  'is-404': refusing(404),
  'is-204': arriving(204, (response) => response.writeHead(204).end()),
}

/** Failures below HTTP, by host. */
const failures: Record<string, string> = {
  stranger: failed('the certificate is not trusted'),
  expired: failed('the certificate has expired'),
  misnamed: failed('the certificate is for another host name'),
  plain: failed('the TLS handshake failed'),
  silent: timedOut,
  deaf: failed('the host refused the connection'),
  nowhere: failed('the host name does not exist'),
  turning: notPublic,
  half: notPublic,
}

const toUrl = (name: string) => (name === 'misnamed' ? `https://${name}.example.net/` : `https://${name}.example.com/`)

/** A self-signed certificate that is valid for some hours. */
const make = (name: string, hours: number) =>
  generate([{ name: 'commonName', value: `${name}.example.com` }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 2 * 3_600_000),
    notAfterDate: new Date(Date.now() + hours * 3_600_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: `${name}.example.com` }] }],
  })

const newestOf = async (user: TestUser, id: string) => (await user.api.getWebhook({ id })).deliveries[0]!

async function untilTried(user: TestUser, id: string) {
  await expect.poll(async () => (await newestOf(user, id)).attempts.length).toBe(1)
  return newestOf(user, id)
}

describeDatabases('hostile receivers', (open) => {
  let outside: Outside
  let test: TestRegistry
  const closing: (() => Promise<void>)[] = []
  const ports = new Map<string, number>()
  const asked: string[] = []
  beforeAll(async () => {
    outside = await openOutside(['example.com'])
    const old = await make('expired', -1)
    const own = await make('stranger', 1)
    await serve('stranger', createHttpsServer({ key: own.private, cert: own.cert }))
    await serve('expired', createHttpsServer({ key: old.private, cert: old.cert }))
    await serve('silent', createServer())
    const plain = await openPlain((_, response) => response.end())
    const deaf = await openPlain(() => {})
    await deaf.close()
    ports.set('plain', plain.port).set('deaf', deaf.port)
    closing.push(plain.close)
    outside.names.add('misnamed.example.net')
    const { resolver } = outside
    const outgoing = { allowNetworks: ['127.0.0.1'], ca: [outside.ca, old.cert], resolver: { ...resolver, lookup } }
    test = await open({ outgoing })
  })
  afterAll(async () => {
    for (const close of closing) await close()
    await outside.close()
  })

  async function serve(name: string, server: Server): Promise<void> {
    server.on('connection', (socket) => closing.push(async () => void socket.destroy()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ports.set(name, (server.address() as AddressInfo).port)
    closing.push(async () => void server.close())
  }

  /**
   * Names resolve to the same address as at the creation of the webhook, except one that changes and one that partly
   * changes.
   */
  async function lookup(name: string): Promise<{ address: string; port?: number }[]> {
    const [label = ''] = name.split('.')
    asked.push(label)
    const isSecond = asked.filter((each) => each === label).length > 1
    if (label === 'turning') return [{ address: isSecond ? '10.1.2.3' : '127.0.0.1' }]
    if (label === 'half') return isSecond ? [{ address: '127.0.0.1' }, { address: '10.1.2.3' }] : []
    const port = ports.get(label)
    return port === undefined ? outside.resolver.lookup(name) : [{ address: '127.0.0.1', port }]
  }

  /** An owner with a webhook at each of these hosts, whose skill was just starred. */
  async function tell(names: readonly string[]): Promise<{ user: TestUser; ids: ReadonlyMap<string, string> }[]> {
    const owners = []
    for (let i = 0; i < names.length; i += 20) {
      const user = await test.makeUser(undefined, { plan: 'pro' })
      await user.api.publishSkill({ skillMd: skillMd('starred') })
      const ids = new Map<string, string>()
      for (const name of names.slice(i, i + 20)) {
        const { id } = await user.api.createWebhook({ url: toUrl(name), events: ['skill.starred'] })
        ids.set(name, id)
      }
      owners.push({ user, ids })
    }
    for (const { user } of owners) await star(test, user)
    return owners
  }

  it('are each recorded with their failure, and delay no other receiver', async () => {
    const tried = new Map<string, unknown>()
    const fine = Promise.withResolvers<void>()
    for (const [name, { respond }] of Object.entries(ways))
      outside.pages.set(`${name}.example.com/`, (request, response) => respond(response, request))
    outside.pages.set('fine.example.com/', (_request, response) => {
      response.end()
      fine.resolve()
    })
    // Responds after the last receiver has got its event.
    outside.pages.set('patient.example.com/', (_request, response) => void fine.promise.then(() => response.end()))
    outside.pages.set('elsewhere.example.com/', 'a secret')
    const names = ['patient', ...Object.keys(ways), ...Object.keys(failures), 'fine']
    for (const { user, ids } of await tell(names)) {
      for (const [name, id] of ids) {
        const { status, attempts } = await untilTried(user, id)
        const [{ statusCode, error } = {} as { statusCode: number | null; error: string | null }] = attempts
        const text = error?.replace(new URL(toUrl(name)).origin, origin) ?? null
        tried.set(name, { status, statusCode, error: text })
      }
    }
    const arrived = { status: 'delivered', statusCode: 200, error: null }
    const expected = [
      ...Object.entries(ways).map(([name, { status, statusCode, error }]) => [name, { status, statusCode, error }]),
      ...Object.entries(failures).map(([name, error]) => [name, { status: 'pending', statusCode: null, error }]),
    ] as [string, unknown][]
    expect(Object.fromEntries(tried)).toEqual({
      patient: arrived,
      fine: arrived,
      ...Object.fromEntries(expected),
    })
    expect(outside.requests.filter((request) => request.includes('elsewhere'))).toEqual([])
    // Once when the webhook was created, and once for the connection.
    for (const name of [...Object.keys(ways), ...Object.keys(failures)])
      expect([name, asked.filter((each) => each === name).length]).toEqual([name, 2])
  })

  it('get their event at a later attempt if they recover', async () => {
    outside.pages.set('back.example.com/', (request) => void request.socket.destroy())
    const [{ user, ids } = {} as never] = await tell(['back'])
    const id = ids.get('back')!
    expect(await untilTried(user, id)).toMatchObject({
      status: 'pending',
      attempts: [{ error: closes.replace('receiver', 'back') }],
    })
    outside.pages.set('back.example.com/', (_request, response) => void response.end())
    test.clock.advance(minuteMs)
    await expect.poll(async () => (await newestOf(user, id)).status).toBe('delivered')
  })

  describe('while the registry closes', () => {
    it('do not use up an attempt: the delivery in progress is sent again after a restart', async () => {
      const began = Promise.withResolvers<void>()
      outside.pages.set('stuck.example.com/', () => began.resolve())
      const [{ user, ids } = {} as never] = await tell(['stuck'])
      await began.promise
      await test.registry.close()
      outside.pages.set('stuck.example.com/', (_request, response) => void response.end())
      const { resolver } = outside
      const outgoing = { allowNetworks: ['127.0.0.1'], ca: [outside.ca], resolver: { ...resolver, lookup } }
      const again = await open({ at: test.location, clock: test.clock, outgoing })
      const shown = async () => (await again.apiWithKey(user.key).getWebhook({ id: ids.get('stuck')! })).deliveries[0]!
      await expect.poll(async () => (await shown()).status).toBe('delivered')
      expect((await shown()).attempts).toEqual([
        { number: 1, at: expect.any(String), statusCode: 200, durationMs: expect.any(Number), error: null },
      ])
      expect(outside.requests.filter((request) => request === 'POST stuck.example.com/').length).toBe(2)
    })
  })
})
