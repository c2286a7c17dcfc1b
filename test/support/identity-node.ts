import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localApi, systemCaller } from '@skillstead/core'
import { createSignIn, parseGroupRules } from '@skillstead/identity'
import { listenNode } from '@skillstead/server'
import { Provider } from 'oidc-provider'
import { onTestFinished, vi } from 'vitest'
import { createClock } from './harness.ts'
import { openRegistry } from './open-registry.ts'
import { makePlace } from './places.ts'
import { steady, type TestListenOptions } from './steady.ts'

type Claims = Record<string, unknown>
export const clientSecret = 'a secret of the client with at least 32 bytes'

/** A server on loopback that answers once it has its listener. */
export async function listen(): Promise<{ url: string; answerWith(listener: RequestListener): void }> {
  let listener: RequestListener | undefined
  const server: Server = createServer((request, response) => listener!(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, answerWith: (given) => (listener = given) }
}

interface SigningNode extends Pick<Parameters<typeof createSignIn>[1], 'clientSecret'> {
  readonly groups?: readonly string[]
  readonly listening?: TestListenOptions
  readonly localSignIn?: boolean
}

/** A node whose users sign in by the issuer. `root` is its administrator. */
async function startSigningNode(issuer: string, { groups = [], listening, localSignIn, ...settings }: SigningNode) {
  const clock = createClock()
  const place = await makePlace('SQLite')
  const secretKey = Buffer.alloc(32, 7)
  const registry = await openRegistry({ ...place.location, clock, secretKey, localSignIn })
  const errors: unknown[] = []
  const signIn = createSignIn(registry, {
    issuer,
    clientId: 'skillstead',
    clientSecret,
    onError: (error: unknown) => errors.push(error),
    ...settings,
    groups: parseGroupRules(groups),
  })
  const system = localApi(registry, systemCaller)
  const { key } = await system.createUser({ username: 'root', role: 'admin' })
  const node = await listenNode(registry, { port: 0, ...steady, ...listening, signIn })
  signIn.start()
  onTestFinished(async () => {
    await node.close()
    await signIn.close()
    await registry.close()
    await place.remove()
  })
  const api = localApi(registry, await registry.getCaller('root'))
  return { registry, clock, node, api, key, errors, openBrowser: () => createBrowser(node.url) }
}

export type SignInNode = Awaited<ReturnType<typeof startSigningNode>>

/** A provider that is a real implementation of OpenID Connect, for a node that starts after it. */
export async function startProvider({ thinTokens = false } = {}) {
  const server = await listen()
  // The provider explains each of its defaults on the console.
  for (const method of ['info', 'warn'] as const) vi.spyOn(console, method).mockImplementation(() => {})
  /** The accounts of the provider, by subject. */
  const accounts = new Map<string, Claims>()
  let current = ''
  const scope = 'openid profile groups offline_access'

  /** Answers for the client that is the node. */
  function serve(node: string): void {
    const provider = new Provider(server.url, {
      clients: [
        {
          client_id: 'skillstead',
          client_secret: clientSecret,
          redirect_uris: [`${node}/login/callback`],
          post_logout_redirect_uris: [`${node}/`],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
        },
      ],
      cookies: { keys: ['a key for cookies'] },
      scopes: scope.split(' '),
      claims: { openid: ['sub'], profile: ['preferred_username', 'name'], groups: ['groups'] },
      conformIdTokenClaims: thinTokens,
      issueRefreshToken: async () => true,
      pkce: { required: () => true },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          enabled: true,
          async logoutSource(ctx, form) {
            const button = '<button form="op.logoutForm" name="logout" value="yes">Leave the provider</button>'
            ctx.body = `<!doctype html><title>Provider</title>${form}${button}`
          },
        },
      },
      interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
      findAccount: async (_ctx, sub) =>
        accounts.has(sub) ? { accountId: sub, claims: async () => ({ sub, ...accounts.get(sub) }) } : undefined,
      async loadExistingGrant(ctx) {
        const grant = new ctx.oidc.provider.Grant({ clientId: 'skillstead', accountId: ctx.oidc.session!.accountId! })
        grant.addOIDCScope(scope)
        await grant.save()
        return grant
      },
    })
    const answer = provider.callback()
    server.answerWith((request, response) => {
      if (!request.url!.startsWith('/interaction/')) return void answer(request, response)
      void provider.interactionFinished(request, response, { login: { accountId: current } })
    })
  }

  /** The user of a subject signs in when a browser comes next. */
  function expectUser(subject: string, claims: Claims = {}): void {
    accounts.set(subject, { preferred_username: subject, ...claims })
    current = subject
  }

  return {
    issuer: server.url,
    accounts,
    serve,
    expectUser,
    /** A new browser in which the user of a subject has signed in to a node. */
    async signIn(node: string, subject: string, claims: Claims = {}, next?: string) {
      expectUser(subject, claims)
      const browser = createBrowser(node)
      const last = await browser.visit(`/login${next === undefined ? '' : `?next=${encodeURIComponent(next)}`}`)
      return { ...browser, last }
    },
  }
}

/** A node with such a provider; `as` signs in at it. */
export async function startWithProvider(options: SigningNode & { readonly thinTokens?: boolean } = {}) {
  const { issuer, accounts, serve, signIn } = await startProvider(options)
  const fixture = await startSigningNode(issuer, options)
  const { url } = fixture.node
  serve(url)
  const as = (subject: string, claims?: Claims, next?: string) => signIn(url, subject, claims, next)
  return { ...fixture, issuer, accounts, as }
}

/** A browser without pages: it follows redirects, and stores cookies by host. */
function createBrowser(home: string) {
  const cookies = new Map<string, Map<string, string>>()
  const visited: string[] = []

  async function open(address: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(address, home)
    const jar = cookies.get(url.host) ?? new Map<string, string>()
    cookies.set(url.host, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(init.headers as Record<string, string>), ...(cookie && { cookie }) }
    const response = await fetch(url, { ...init, redirect: 'manual', headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /max-age=0/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    return response
  }

  /** Calls the API as the page of the dashboard does. */
  function call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...(init.headers as Record<string, string>), 'x-skillstead-session': '1', origin: home }
    return open(path, { ...init, headers })
  }

  return {
    cookies: () => cookies.get(new URL(home).host) ?? new Map<string, string>(),
    visited,
    open,
    /** Opens an address and follows its redirects. */
    async visit(address: string): Promise<Response> {
      let [url, response] = [new URL(address, home), await open(address)]
      for (let hops = 0; hops < 15 && response.headers.has('location'); hops++) {
        url = new URL(response.headers.get('location')!, url)
        visited.push(url.href)
        response = await open(url.href)
      }
      return response
    },
    call,
    /** The name of the signed-in user; the status of the refusal otherwise. */
    async whoAmI(): Promise<string | number> {
      const response = await call('/api/v1/users/me')
      return response.ok ? ((await response.json()) as { username: string }).username : response.status
    },
  }
}

/** A provider whose tokens the test writes, for answers that no real one gives. */
export async function startForger(options: SigningNode = {}) {
  const server = await listen()
  const fixture = await startSigningNode(server.url, options)
  let key = createSigningKey()
  let toToken: (claims: Claims) => string = (claims) => signToken(key, claims)
  let answered: Claims | undefined
  server.answerWith((request, response) => {
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': {
        issuer: server.url,
        authorization_endpoint: `${server.url}/auth`,
        token_endpoint: `${server.url}/token`,
        jwks_uri: `${server.url}/jwks`,
        scopes_supported: ['openid', 'profile'],
        response_types_supported: ['code'],
        id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
        authorization_response_iss_parameter_supported: true,
      },
      '/jwks': { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' }] },
      '/token': {
        access_token: 'an access token',
        token_type: 'Bearer',
        expires_in: 60,
        ...(answered && { id_token: toToken(answered) }),
      },
    }
    const document = documents[request.url!]
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}))
  })
  return {
    ...fixture,
    issuer: server.url,
    key: () => key,
    rotateKey: () => (key = createSigningKey()),
    /** Begins a sign-in in a browser, and returns the values of the request to the provider. */
    async begin(browser = fixture.openBrowser(), query = '') {
      const response = await browser.open(`/login${query}`)
      const { searchParams } = new URL(response.headers.get('location')!)
      return { browser, state: searchParams.get('state')!, nonce: searchParams.get('nonce')!, searchParams }
    },
    /** Answers a sign-in with a token of these claims. */
    async answer(
      begun: { browser: ReturnType<typeof createBrowser>; state: string; nonce: string },
      claims: Claims = {},
      { write, query }: { write?: typeof toToken; query?: Record<string, string> } = {},
    ) {
      const now = Math.floor(Date.now() / 1000)
      answered = {
        iss: server.url,
        aud: 'skillstead',
        sub: 'alice',
        iat: now,
        exp: now + 300,
        nonce: begun.nonce,
        ...claims,
      }
      toToken = write ?? ((all) => signToken(key, all))
      const parameters = new URLSearchParams({ code: randomUUID(), state: begun.state, iss: server.url, ...query })
      return begun.browser.open(`/login/callback?${parameters}`)
    },
  }
}

type SigningKey = ReturnType<typeof createSigningKey>

export function createSigningKey(kid: string = randomUUID()) {
  return { kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) }
}

export function signToken({ privateKey, kid }: Pick<SigningKey, 'privateKey' | 'kid'>, claims: Claims): string {
  const head = encodeToken({ alg: 'RS256', kid }, claims)
  return `${head}.${sign('RSA-SHA256', Buffer.from(head), privateKey).toString('base64url')}`
}

/** A token that is signed with a text, as a client that confuses kinds of keys would accept it. */
export function macToken(secret: string | KeyObject, kid: string, claims: Claims): string {
  const head = encodeToken({ alg: 'HS256', kid }, claims)
  return `${head}.${createHmac('sha256', secret).update(head).digest('base64url')}`
}

export function encodeToken(header: object, claims: Claims): string {
  return [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
}
