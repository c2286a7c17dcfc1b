import { createPublicKey } from 'node:crypto'
import { partsOf } from '@skillstead/core/internal'
import { describe, expect, it } from 'vitest'
import {
  clientSecret,
  createSigningKey,
  encodeToken,
  macToken,
  signToken,
  startForger,
} from '../support/identity-node.ts'

type Forger = Awaited<ReturnType<typeof startForger>>
type Answer = Parameters<Forger['answer']>

/** What each answer of the provider is, and the text by which it is refused. */
const forged: [what: string, text: RegExp, forge: (forger: Forger) => [Answer[1]?, Answer[2]?]][] = [
  ['an expired token', /exp/, () => [{ exp: Math.floor(Date.now() / 1000) - 300 }]],
  ['a token for another client', /aud/, () => [{ aud: 'another-client' }]],
  ['a token for several clients', /azp|aud/, () => [{ aud: ['skillstead', 'another-client'] }]],
  ['a token of another issuer', /iss/, () => [{ iss: 'https://elsewhere.example' }]],
  ['the nonce of another sign-in', /nonce/, () => [{ nonce: 'replayed' }]],
  ['no nonce', /nonce/, () => [{ nonce: undefined }]],
  ['no subject', /sub/, () => [{ sub: undefined }]],
  [
    'a token without a signature',
    /alg|JWT|JWS/i,
    () => [{}, { write: (all) => `${encodeToken({ alg: 'none' }, all)}.` }],
  ],
  [
    'a token that the client secret signs',
    /alg|JWS/i,
    ({ key }) => [{}, { write: (all) => macToken(clientSecret, key().kid, all) }],
  ],
  [
    'a token that the public key signs as a secret',
    /alg|JWS/i,
    ({ key }) => {
      const pem = createPublicKey(key().privateKey).export({ format: 'pem', type: 'spki' })
      return [{}, { write: (all) => macToken(String(pem), key().kid, all) }]
    },
  ],
  [
    'a token that another key signed',
    /signature/i,
    ({ key }) => [{}, { write: (all) => signToken(createSigningKey(key().kid), all) }],
  ],
  ['a token of an unknown key', /key/, () => [{}, { write: (all) => signToken(createSigningKey('unknown'), all) }]],
  [
    'a token that was changed',
    /signature/i,
    ({ key }) => [
      {},
      {
        write(all) {
          const [head = '', , signature = ''] = signToken(key(), all).split('.')
          return `${head}.${encodeToken({}, { ...all, sub: 'root' }).split('.')[1]}.${signature}`
        },
      },
    ],
  ],
  ['no token', /./, () => [{}, { write: () => '' }]],
  ['the answer of another issuer', /iss/, () => [{}, { query: { iss: 'https://elsewhere.example' } }]],
  ['the state of another sign-in', /state/, () => [{}, { query: { state: 'another' } }]],
  [
    'a refusal of the provider',
    /access_denied: Not <b>today/,
    () => [{}, { query: { error: 'access_denied', error_description: 'Not\u202e <b>today' } }],
  ],
  ['ten thousand groups', /10000 groups/, () => [{ groups: Array.from({ length: 10_000 }, (_, i) => `g${i}`) }]],
  ['groups that are no texts', /groups that are not texts/, () => [{ groups: ['eng', { name: 'admins' }] }]],
  ['a reference in place of groups', /too many groups/, () => [{ _claim_names: { groups: 'src1' } }]],
]

describe('a response of an identity provider', () => {
  it('is accepted once with a valid token, also after the provider changed its key', async () => {
    const forger = await startForger()
    const begun = await forger.begin()
    const query = { code: 'same', iss: forger.issuer, state: begun.state }
    const cookie = begun.browser.cookies().get('skillstead-sign-in')!
    expect((await forger.answer(begun, {}, { query })).status).toBe(303)
    expect(await begun.browser.whoAmI()).toBe('alice')
    // The same browser, and a thief with its cookie, send the answer again.
    expect((await forger.answer(begun, {}, { query })).status).toBe(403)
    begun.browser.cookies().set('skillstead-sign-in', cookie)
    const again = await forger.answer(begun, {}, { query })
    expect([again.status, await again.text()]).toEqual([403, expect.stringContaining('was used before')])
    expect((await forger.api.listSessions({ username: 'alice' })).total).toBe(1)

    forger.rotateKey()
    await forger.answer(await forger.begin(), { sub: 'bob', preferred_username: 'bob' })
    const second = await forger.begin()
    expect((await forger.answer(second, { sub: 'bob', preferred_username: 'bob' })).status).toBe(303)
    expect(await second.browser.whoAmI()).toBe('bob')
  })

  it.each(forged)('is refused with %s, recorded, and changes nothing', async (_, text, forge) => {
    const forger = await startForger({ groups: ['admins=administrators', 'eng=acme:owner'] })
    const begun = await forger.begin()
    const [claims, options] = forge(forger)
    const response = await forger.answer(begun, claims, options)
    const body = await response.text()
    expect([response.status, response.headers.get('content-type')]).toEqual([403, 'text/plain; charset=utf-8'])
    expect(body).toMatch(text)
    expect(body).not.toMatch(/\u202e|\bat .*\.ts/)
    expect(response.headers.get('set-cookie') ?? '').not.toContain('skillstead-session')
    expect(await begun.browser.whoAmI()).toBe(401)
    const { entries } = await forger.api.listAudit()
    expect(entries.map(({ action }) => action)).toEqual(['identity.refuse', 'user.create'])
    expect(entries[0]!.data.reason).toMatch(text)
    const { read } = partsOf(forger.registry).database
    for (const table of ['identities', 'sessions', 'members'] as const)
      expect(await read.selectFrom(table).selectAll().execute()).toEqual([])
    expect((await forger.api.listUsers()).total).toBe(1)
  })

  it.each<[what: string, spoil: (begun: Awaited<ReturnType<Forger['begin']>>, forger: Forger) => Promise<void>]>([
    ['without the cookie of the browser that began', async ({ browser }) => browser.cookies().clear()],
    [
      'with the cookie of another sign-in',
      async ({ browser }, forger) => {
        const other = await forger.begin()
        browser.cookies().set('skillstead-sign-in', other.browser.cookies().get('skillstead-sign-in')!)
      },
    ],
    [
      'with a changed cookie',
      async ({ browser }) => {
        const cookie = browser.cookies().get('skillstead-sign-in')!
        browser.cookies().set('skillstead-sign-in', `${cookie.slice(0, -4)}AAAA`)
      },
    ],
    ['with a cookie of garbage', async ({ browser }) => void browser.cookies().set('skillstead-sign-in', '%00;"')],
    ['ten minutes later', async (_, { clock }) => clock.advance(600_000)],
    ['before the sign-in began, by a clock that was set back', async (_, { clock }) => clock.advance(-60_000)],
  ])('is refused %s', async (_, spoil) => {
    const forger = await startForger()
    const begun = await forger.begin()
    await spoil(begun, forger)
    expect((await forger.answer(begun)).status).toBe(403)
    expect(await begun.browser.whoAmI()).toBe(401)
    expect((await forger.api.listUsers()).total).toBe(1)
  })

  it.each([
    ['/packs?q=a', '/packs?q=a'],
    ['//elsewhere.example', '/'],
    ['/\\elsewhere.example', '/'],
    ['https://elsewhere.example/', '/'],
    ['/..//elsewhere.example', '/'],
    ['/\t/elsewhere.example', '/'],
    ['javascript:alert(1)', '/'],
    ['', '/'],
    ['packs', '/'],
    ['/a\r\nset-cookie: x=y', '/aset-cookie:%20x=y'],
  ])('leads to a page of the node only: %j', async (next, path) => {
    const forger = await startForger()
    const response = await forger.answer(await forger.begin(undefined, `?next=${encodeURIComponent(next)}`))
    expect(response.headers.get('location')).toBe(`${forger.node.url}${path}`)
    expect(response.headers.get('set-cookie')).not.toContain('x=y')
  })

  it.each([
    ['https://skills.example', '__Host-', '/'],
    ['https://intranet.example/skills', '__Secure-', '/skills'],
  ])('returns to the public URL %s, with a cookie for only this host and path', async (publicUrl, prefix, path) => {
    const { openBrowser } = await startForger({ listening: { publicUrl } })
    const response = await openBrowser().open('/login')
    const { searchParams } = new URL(response.headers.get('location')!)
    expect(searchParams.get('redirect_uri')).toBe(`${publicUrl}/login/callback`)
    const [cookie = '', ...attributes] = response.headers.get('set-cookie')!.split('; ')
    expect(cookie.startsWith(`${prefix}skillstead-sign-in=`)).toBe(true)
    expect(attributes).toEqual([`Path=${path}`, 'HttpOnly', 'SameSite=Lax', 'Max-Age=600', 'Secure'])
  })

  it('is never requested from an unsafe issuer, since the node refuses the issuer as a setting', async () => {
    const { createSignIn } = await import('@skillstead/identity')
    const { registry } = await startForger()
    for (const issuer of [
      'http://login.example.com',
      'login.example.com',
      'https://a:b@login.example.com',
      'https://x/?a',
    ])
      expect(() => createSignIn(registry, { issuer, clientId: 'x' }), issuer).toThrow(/issuer must be/)
  })
})
