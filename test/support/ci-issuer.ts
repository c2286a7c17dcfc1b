import { randomUUID } from 'node:crypto'
import { localApi, systemCaller } from '@skillstead/core'
import { createTokenExchange } from '@skillstead/identity'
import { listenNode } from '@skillstead/server'
import { onTestFinished } from 'vitest'
import { createClock } from './harness.ts'
import { createSigningKey, listen, signToken } from './identity-node.ts'
import { openRegistry } from './open-registry.ts'
import { type DialectName, makePlace } from './places.ts'
import { steady } from './steady.ts'

type Claims = Record<string, unknown>

/** An issuer of tokens for CI jobs on loopback, whose documents and keys a test can change. */
export async function startIssuer() {
  const { url, answerWith } = await listen()
  let key = createSigningKey()
  let metadata: Claims = { issuer: url, jwks_uri: `${url}/jwks` }
  const requests: string[] = []
  /** What the issuer answers in place of its documents, by path; undefined for nothing. */
  const replaced = new Map<string, object | undefined>()
  answerWith((request, response) => {
    requests.push(request.url!)
    const target = new URL(request.url!, url)
    const documents: Record<string, object> = {
      '/.well-known/openid-configuration': metadata,
      '/jwks': { keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: key.kid, alg: 'RS256', use: 'sig' }] },
    }
    const isOfJob = target.pathname === '/job-token' && request.headers.authorization === 'Bearer secret of the job'
    const document = isOfJob
      ? { value: issuer.token({ aud: target.searchParams.get('audience') }) }
      : Object.fromEntries([...Object.entries(documents), ...replaced])[target.pathname]
    response.writeHead(document ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(document ?? {}))
  })
  const issuer = {
    url,
    requests,
    documents: replaced,
    key: () => key,
    rotateKey: () => (key = createSigningKey()),
    describe: (changed: Claims) => (metadata = { ...metadata, ...changed }),
    /** The claims of tokens unless a test names others, as GitHub has them. */
    claims: {
      sub: 'repo:acme/skills:ref:refs/heads/main',
      repository: 'acme/skills',
      ref: 'refs/heads/main',
      event_name: 'push',
    } as Claims,
    /** The claims of a token that lives for 5 minutes. */
    toClaims(claims: Claims = {}): Claims {
      const now = Math.floor(Date.now() / 1000)
      return { iss: url, iat: now, nbf: now, exp: now + 300, jti: randomUUID(), ...issuer.claims, ...claims }
    },
    token: (claims: Claims = {}) => signToken(key, issuer.toClaims(claims)),
  }
  return issuer
}

interface ExchangeAnswer {
  readonly access_token: string
  readonly targets: string[]
  readonly error: string
  readonly error_description: string
}

/** A node that exchanges tokens of an issuer; `alice` owns the organisation `acme`. */
export async function startExchangingNode(dialect: DialectName = 'SQLite') {
  const issuer = await startIssuer()
  const clock = createClock()
  clock.set(Date.now())
  const place = await makePlace(dialect)
  const registry = await openRegistry({ ...place.location, clock, outgoing: { allowNetworks: ['127.0.0.0/8'] } })
  const system = localApi(registry, systemCaller)
  await system.createUser({ username: 'root', role: 'admin' })
  for (const username of ['alice', 'bob']) await system.createUser({ username })
  const as = async (username: string) => localApi(registry, await registry.getCaller(username))
  const alice = await as('alice')
  await alice.createOrganisation({ name: 'acme' })
  const node = await listenNode(registry, {
    port: 0,
    ...steady,
    tokenExchange: async () => createTokenExchange(registry),
  })
  onTestFinished(async () => {
    await node.close()
    await registry.close()
    await place.remove()
  })
  const trust = (target: string, claims: Record<string, string> = { repository: 'acme/skills' }) =>
    alice.putTrustedPublisher({ target, issuer: issuer.url, claims })
  /** Exchanges a token; `fields` replace those of the request. */
  async function exchange(token = issuer.token({ aud: node.url }), fields: Record<string, string> = {}) {
    const response = await fetch(`${node.url}/token/exchange`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        subject_token: token,
        resource: `${node.url}/acme`,
        ...fields,
      }),
    })
    return { response, ...((await response.json()) as ExchangeAnswer) }
  }
  const audit = async (action: string) => (await (await as('root')).listAudit({ action })).entries
  return { issuer, clock, registry, node, as, alice, trust, exchange, audit }
}
