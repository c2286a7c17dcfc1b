import type { OperatorContext } from '@skillstead/core/internal'
import { isRegistryError, RegistryError, attempt, toFields } from '@skillstead/protocol'
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'

type KeyFinder = JWTVerifyGetKey

/** An issuer's keys are fetched again after `cacheMs`, or after `cooldownMs` for a token with an unknown key. */
const cacheMs = 10 * 60_000
const cooldownMs = 30_000
const bytesMax = 256 * 1024
const issuersMax = 200

/**
 * The signing keys of issuers, found by OpenID Connect Discovery. Users choose the issuers, so requests go through the
 * HTTP client that refuses private addresses. Failures are cached for half a minute, so that tokens from strangers
 * cannot make the node send many requests.
 */
export class IssuerKeys {
  readonly #context: Pick<OperatorContext, 'outgoing' | 'clock'>
  readonly #found = new Map<string, { readonly until: number; readonly keys: Promise<KeyFinder> }>()

  constructor(context: Pick<OperatorContext, 'outgoing' | 'clock'>) {
    this.#context = context
  }

  /**
   * The keys of an issuer. Throws `upstream_failed` or `upstream_timeout` if the issuer does not respond, and
   * `forbidden` for metadata of another issuer.
   */
  find(issuer: string): Promise<KeyFinder> {
    const now = this.#context.clock.now()
    const known = this.#found.get(issuer)
    if (known && now < known.until && known.until <= now + cacheMs) return known.keys
    const keys = this.#discover(issuer)
    keys.catch(() => this.#put(issuer, keys, cooldownMs))
    this.#put(issuer, keys, cacheMs)
    return keys
  }

  #put(issuer: string, keys: Promise<KeyFinder>, forMs: number): void {
    this.#found.delete(issuer)
    this.#found.set(issuer, { until: this.#context.clock.now() + forMs, keys })
    const [oldest] = this.#found.keys()
    if (this.#found.size > issuersMax) this.#found.delete(oldest!)
  }

  async #discover(issuer: string): Promise<KeyFinder> {
    const address = `${issuer.replace(/\/+$/, '')}/.well-known/openid-configuration`
    const { status, bytes } = await this.#get(address)
    const metadata: unknown = status === 200 ? attempt(() => JSON.parse(Buffer.from(bytes).toString('utf8'))) : null
    if (typeof metadata !== 'object' || metadata === null)
      throw new RegistryError(
        'upstream_failed',
        `${address} did not return the metadata of an issuer (status ${status}).`,
      )
    const { issuer: described, jwks_uri: keysUri } = toFields(metadata)
    // Without this check, one issuer could provide the keys for tokens of another issuer.
    if (described !== issuer)
      throw new RegistryError(
        'forbidden',
        `${address} describes another issuer than ${issuer}, that of the token. Ask its operator.`,
      )
    const keys = URL.parse(String(keysUri))
    if (!keys || (keys.protocol !== 'https:' && new URL(issuer).protocol === 'https:'))
      throw new RegistryError('forbidden', `${address} has no https URL of the keys in jwks_uri.`)
    const find = createRemoteJWKSet(keys, {
      cacheMaxAge: cacheMs,
      cooldownDuration: cooldownMs,
      [customFetch]: async (url) => {
        const answer = await this.#get(url)
        return new Response(Buffer.from(answer.bytes), { status: answer.status })
      },
    })
    return (...asked) =>
      find(...asked).catch((error: unknown) => {
        if (!find.fresh) this.#fail(issuer, error)
        throw error
      })
  }

  /** Caches the error of fetching an issuer's keys for `cooldownMs`. */
  #fail(issuer: string, error: unknown): void {
    const keys = Promise.reject<KeyFinder>(error)
    keys.catch(() => {})
    this.#put(issuer, keys, cooldownMs)
  }

  async #get(address: string) {
    try {
      return await this.#context.outgoing.get(address, { bytesMax })
    } catch (error) {
      if (!isRegistryError(error, 'invalid_request')) throw error
      const advice = 'The operator of the node can allow the network of the issuer with --allow-networks.'
      throw new RegistryError('forbidden', `This node may not send requests to ${address}: ${error.message} ${advice}`)
    }
  }
}
