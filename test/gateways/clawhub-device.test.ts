import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import { toPageHeaders } from '../support/clawhub-acts.ts'
import { createClock, type TestClock } from '../support/harness.ts'
import { startNode } from '../support/server-harness.ts'

const grantType = 'urn:ietf:params:oauth:grant-type:device_code'

/** A node whose clock the test moves, the programs that ask to sign in, and the page that decides. */
async function startDevices(...[options]: Parameters<typeof startNode>) {
  const clock = createClock()
  const fixture = await startNode(options, undefined, { clock })
  const post = (action: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${fixture.node.url}/api/cli/device/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  return {
    ...fixture,
    clock,
    post,
    async request(label?: string) {
      const response = await post('code', { scope: 'read write', label })
      return (await response.json()) as { device_code: string; user_code: string; verification_uri: string }
    },
    async poll(deviceCode: string) {
      const response = await post('token', { device_code: deviceCode, grant_type: grantType })
      return [response.status, await response.json()] as [number, Record<string, unknown>]
    },
  }
}

function waitForPoll(clock: TestClock, seconds = 5): void {
  clock.advance(seconds * 1000)
}

describe('the device sign-in', () => {
  it('gives a program one key of the user who allows the sign-in, even on a private node', async () => {
    const fixture = await startDevices({ requireKey: true })
    const { node, post, request, poll, clock } = fixture
    const { device_code, user_code, verification_uri } = await request('  lap\u200btop  ')
    expect(user_code).toMatch(/^[B-DF-HJ-NP-TV-Z]{4}-[B-DF-HJ-NP-TV-Z]{4}$/)
    expect(verification_uri).toBe(`${node.url}/device`)
    waitForPoll(clock)
    expect(await poll(device_code)).toEqual([400, { error: 'authorization_pending' }])
    const bobKey = await fixture.createUser('bob')
    const bob = await toPageHeaders(fixture, bobKey)
    const userCode = ` ${user_code.toLowerCase().replace('-', ' ')} `
    const shown = await (await post('show', { userCode }, bob)).json()
    expect(shown).toEqual({
      label: 'laptop',
      scopes: ['read', 'publish'],
      requestedAt: new Date(clock.now() - 5000).toISOString(),
    })
    expect(await (await post('decide', { userCode, allow: true }, bob)).json()).toEqual({ allowed: true })
    expect((await post('decide', { userCode, allow: true }, bob)).status).toBe(400)

    waitForPoll(clock)
    const [status, token] = await poll(device_code)
    expect([status, token]).toEqual([
      200,
      { access_token: expect.stringMatching(/^ssk_/), token_type: 'Bearer', scope: 'read publish' },
    ])
    const headers = { authorization: `Bearer ${String(token.access_token)}` }
    const whoami = await fetch(`${node.url}/clawhub/api/v1/whoami`, { headers })
    expect(await whoami.json()).toMatchObject({ user: { handle: 'bob' } })
    const readKeys = (sent: Record<string, string>) => fetch(`${node.url}/api/v1/api-keys`, { headers: sent })
    expect((await readKeys(headers)).status).toBe(403)
    const keys = await readKeys({ authorization: `Bearer ${bobKey}` })
    expect(await keys.json()).toMatchObject({
      apiKeys: [{ name: 'signed in: laptop', scopes: ['read', 'publish'] }, {}],
    })
    waitForPoll(clock)
    expect(await poll(device_code)).toEqual([400, { error: 'expired_token' }])
  })

  it("gives a program a key that expires and is revoked together with the key of the user's session", async () => {
    const fixture = await startDevices()
    const { post, request, poll, clock, api } = fixture
    const short = await api.createApiKey({ name: 'short', expiresInDays: 1 })
    const { device_code, user_code: userCode } = await request()
    await post('decide', { userCode, allow: true }, await toPageHeaders(fixture, short.key))
    const listed = async () => (await api.listApiKeys()).apiKeys.find(({ name }) => name.startsWith('signed in'))
    expect(await listed()).toMatchObject({ expiresAt: short.expiresAt, madeBy: short.id })
    waitForPoll(clock)
    const [status, token] = await poll(device_code)
    expect([status, token.token_type]).toEqual([200, 'Bearer'])
    await api.deleteApiKey({ id: short.id, withMade: true })
    expect(await listed()).toBeUndefined()
  })

  it('reports a denial to the program, and deletes a code after 10 minutes', async () => {
    const fixture = await startDevices()
    const { post, request, poll, clock } = fixture
    const alice = await toPageHeaders(fixture, fixture.key)
    const denied = await request()
    expect((await post('decide', { userCode: denied.user_code, allow: false }, alice)).status).toBe(200)
    waitForPoll(clock)
    expect(await poll(denied.device_code)).toEqual([400, { error: 'access_denied' }])
    const late = await request()
    clock.advance(600_000)
    expect((await post('show', { userCode: late.user_code }, alice)).status).toBe(400)
    expect(await poll(late.device_code)).toEqual([400, { error: 'expired_token' }])
    expect(await poll('unknown')).toEqual([400, { error: 'expired_token' }])
  })

  it('deletes pending codes and the counts of wrong codes when the clock is set back', async () => {
    const fixture = await startDevices()
    const { post, request, poll, clock } = fixture
    const alice = await toPageHeaders(fixture, fixture.key)
    const early = await request()
    const guess = () => post('show', { userCode: 'BBBB-BBBB' }, alice)
    for (let guesses = 0; guesses < 10; guesses++) await guess()
    expect((await guess()).status).toBe(429)
    clock.advance(-3_600_000)
    expect((await post('show', { userCode: early.user_code }, alice)).status).toBe(400)
    expect(await poll(early.device_code)).toEqual([400, { error: 'expired_token' }])
  })

  it('exists on a node without gateways, and gives the scope manage only to a program that asks for it', async () => {
    const fixture = await startDevices({ gateways: [] })
    const { post, poll, clock, api } = fixture
    const alice = await toPageHeaders(fixture, fixture.key)
    const response = await post('code', { client_id: 'skillstead', scope: 'read publish manage admin', label: 'cli' })
    const { device_code, user_code: userCode } = (await response.json()) as Record<string, string>
    expect(await (await post('show', { userCode }, alice)).json()).toMatchObject({
      scopes: ['read', 'publish', 'manage'],
    })
    await post('decide', { userCode, allow: true }, alice)
    waitForPoll(clock)
    expect((await poll(device_code!))[1]).toMatchObject({ scope: 'read publish manage' })
    expect((await api.listApiKeys()).apiKeys[0]).toMatchObject({ scopes: ['read', 'publish', 'manage'] })
  })

  it('gives no program the scope manage of a session that lacks it', async () => {
    const fixture = await startDevices()
    const { post, poll, clock, api } = fixture
    const { key } = await api.createApiKey({ name: 'narrow', scopes: ['read', 'publish'] })
    const narrow = await toPageHeaders(fixture, key)
    const response = await post('code', { scope: 'manage' })
    const { device_code, user_code: userCode } = (await response.json()) as Record<string, string>
    expect((await post('decide', { userCode, allow: true }, narrow)).status).toBe(403)
    waitForPoll(clock)
    expect(await poll(device_code!)).toEqual([400, { error: 'authorization_pending' }])
  })

  it('asks a program that polls too fast to poll less often', async () => {
    const { request, poll, clock } = await startDevices()
    const { device_code } = await request()
    expect(await poll(device_code)).toEqual([400, { error: 'slow_down', interval: 10 }])
    waitForPoll(clock)
    expect(await poll(device_code)).toEqual([400, { error: 'slow_down', interval: 15 }])
    waitForPoll(clock, 15)
    expect(await poll(device_code)).toEqual([400, { error: 'authorization_pending' }])
  })

  it('can be decided only on a page of the node, by a user with a session', async () => {
    const fixture = await startDevices()
    const { post, request } = fixture
    const { user_code: userCode } = await request()
    const alice = await toPageHeaders(fixture, fixture.key)
    const { cookie, origin } = alice as { cookie: string; origin: string }
    const foreign = { ...alice, origin: 'https://other.example' }
    const refused: [Record<string, string>, number][] = [
      [{}, 401],
      [{ cookie, origin }, 401],
      [{ authorization: `Bearer ${fixture.key}` }, 403],
      [foreign, 403],
      [{ ...alice, 'sec-fetch-site': 'cross-site' }, 401],
    ]
    for (const action of ['show', 'decide']) {
      for (const [headers, status] of refused) {
        expect([action, headers, (await post(action, { userCode, allow: true }, headers)).status]).toEqual([
          action,
          headers,
          status,
        ])
      }
    }
    expect((await post('decide', { userCode, allow: 'yes' }, alice)).status).toBe(400)
    expect((await post('show', { userCode }, alice)).status).toBe(200)
  })

  it('limits the wrong codes of a user, but not those of other users', async () => {
    const fixture = await startDevices()
    const { post, request, clock } = fixture
    const alice = await toPageHeaders(fixture, fixture.key)
    const { user_code } = await request()
    const show = async (userCode: string, headers = alice) => (await post('show', { userCode }, headers)).status
    for (let i = 0; i < 10; i++) expect(await show('BBBB-BBBB')).toBe(400)
    const limited = await post('show', { userCode: user_code }, alice)
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '600'])
    expect(await show(user_code, await toPageHeaders(fixture, await fixture.createUser('bob')))).toBe(200)
    clock.advance(600_000)
    expect(await show((await request()).user_code)).toBe(200)
  })

  it('stores at most 20 pending sign-ins for each IP address', async () => {
    const fixture = await startDevices()
    const alice = await toPageHeaders(fixture, fixture.key)
    const codes: string[] = []
    for (let i = 0; i < 21; i++) codes.push((await fixture.request()).user_code)
    const show = async (i: number) => (await fixture.post('show', { userCode: codes[i] }, alice)).status
    expect([await show(0), await show(1), await show(20)]).toEqual([400, 200, 200])
  })

  it('deletes the oldest pending sign-ins in a flood, and refuses no new sign-in', async () => {
    const { registry, request, poll, clock } = await startDevices()
    const [first, second] = [await request(), await request()]
    const { writer } = partsOf(registry).database
    // As after as many further requests.
    await writer.write((trx) =>
      trx
        .updateTable('sign_ins')
        .set(({ eb }) => ({ num: eb('num', '+', 99_999) }))
        .where('num', '=', 2)
        .execute(),
    )
    const third = await request()
    waitForPoll(clock)
    const errors = [first, second, third].map(async ({ device_code }) => (await poll(device_code))[1]['error'])
    expect(await Promise.all(errors)).toEqual(['expired_token', 'authorization_pending', 'authorization_pending'])
  })

  it('leaves the sign-in pending if the user has the maximum number of keys', async () => {
    const fixture = await startDevices()
    const { post, request, poll, clock, api } = fixture
    const alice = await toPageHeaders(fixture, fixture.key)
    const { total } = await api.listApiKeys()
    for (let i = total; i < 100; i++) await api.createApiKey({ name: `key ${i}` })
    const { user_code: userCode, device_code } = await request()
    expect((await post('decide', { userCode, allow: true }, alice)).status).toBe(409)
    waitForPoll(clock)
    expect(await poll(device_code)).toEqual([400, { error: 'authorization_pending' }])
  })

  it('accepts form data, and returns errors in the OAuth format', async () => {
    const { node, post, request } = await startDevices()
    const ask = async (action: string, fields: Record<string, string>) => {
      const body = new URLSearchParams(fields)
      const response = await fetch(`${node.url}/api/cli/device/${action}`, { method: 'POST', body })
      return [response.status, await response.json()] as [number, Record<string, unknown>]
    }
    const [, made] = await ask('code', { client_id: 'x' })
    expect(made).toMatchObject({ expires_in: 600, interval: 5 })
    const { device_code } = await request()
    const polled = await ask('token', { device_code, grant_type: grantType })
    expect(polled).toMatchObject([400, { error: 'slow_down' }])
    expect(await ask('token', { device_code, grant_type: 'password' })).toEqual([
      400,
      { error: 'unsupported_grant_type' },
    ])
    expect(await ask('token', { grant_type: grantType })).toEqual([
      400,
      { error: 'invalid_request', error_description: 'device_code is missing.' },
    ])
    expect(await (await post('code', [])).json()).toMatchObject({ error: 'invalid_request' })
  })
})
