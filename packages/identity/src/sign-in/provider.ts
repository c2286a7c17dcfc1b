import type { OutgoingOptions } from '@skillstead/core'
import { createHttpClient, type Identity } from '@skillstead/core/internal'
import { isLoopbackHost, isRegistryError, RegistryError, toVisibleText } from '@skillstead/protocol'
import * as oidc from 'openid-client'
import { type Claims, toIdentity } from './claims.ts'

/** An identity provider, and the client that its operator registered for the node. */
export interface ProviderSettings {
  /** The issuer identifier: an HTTPS URL, or an HTTP URL of this machine. */
  readonly issuer: string
  readonly clientId: string
  /** Undefined for a public client, which PKCE alone protects. */
  readonly clientSecret?: string | undefined
}

/** The values that check the provider's answer to one sign-in; the user's browser stores them until that answer. */
export interface Checks {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The account that a provider confirmed. `identity` is undefined if the provider sent no claims with a refresh. */
export interface Confirmed {
  readonly identity: Identity | undefined
  readonly refreshToken: string | undefined
}

/** Thrown if an account is no longer valid at the provider. */
export class AccountEnded extends Error {}

/** The metadata of the provider is read again after this time. */
const metadataMs = 6 * 3_600_000
const requestMs = 10_000
const responseBytesMax = 2 * 1024 * 1024

/** The requests to an identity provider. */
export class Provider {
  readonly #settings: ProviderSettings
  readonly #now: () => number
  readonly #http: ReturnType<typeof createHttpClient>
  #found: { readonly at: number; readonly config: Promise<oidc.Configuration> } | undefined

  /** Throws a TypeError for an issuer that is neither an HTTPS URL nor an HTTP URL of this machine. */
  constructor(settings: ProviderSettings, now: () => number, outgoing: Pick<OutgoingOptions, 'ca' | 'proxy'> = {}) {
    requireIssuer(settings.issuer)
    this.#settings = settings
    this.#now = now
    // The operator configured the provider, so it may be on a private network.
    this.#http = createHttpClient({ ca: outgoing.ca, proxy: outgoing.proxy })
  }

  /** The URL at which the browser signs in, and the values by which the provider's answer is checked. */
  async begin(redirectUri: string): Promise<{ url: URL; checks: Checks }> {
    const config = await this.#configure()
    const supported = config.serverMetadata().scopes_supported ?? []
    const wanted = ['profile', 'email', 'groups', 'offline_access'].filter((scope) => supported.includes(scope))
    const checks = {
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      verifier: oidc.randomPKCECodeVerifier(),
    }
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: ['openid', ...wanted].join(' '),
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    })
    return { url, checks }
  }

  /**
   * Exchanges the authorization code in the provider's answer for the account. Throws `forbidden` if state, issuer or
   * nonce do not match, and `upstream_failed` if the provider does not respond.
   */
  async finish(answer: URL, { state, nonce, verifier }: Checks): Promise<Confirmed & { identity: Identity }> {
    const config = await this.#configure()
    try {
      const tokens = await oidc.authorizationCodeGrant(config, answer, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
      })
      const claims = tokens.claims()!
      const all = await this.#complete(config, claims, tokens.access_token)
      return { identity: this.#toIdentity(claims.sub, all), refreshToken: tokens.refresh_token }
    } catch (error) {
      // The provider may have changed its signing keys: the next sign-in reads them again.
      this.#found = undefined
      throw this.#toRefusal(error)
    }
  }

  /** Asks whether an account still exists. Throws {@link AccountEnded} if not, other errors without a valid answer. */
  async refresh(refreshToken: string, subject: string): Promise<Confirmed> {
    const config = await this.#configure()
    try {
      const tokens = await oidc.refreshTokenGrant(config, refreshToken)
      const claims = tokens.claims()
      if (claims && claims.sub !== subject)
        throw new AccountEnded('The provider returned another account than the one that signed in. Sign in again.')
      const all = claims && (await this.#complete(config, claims, tokens.access_token))
      return { identity: all && this.#toIdentity(subject, all), refreshToken: tokens.refresh_token }
    } catch (error) {
      if (error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant')
        throw new AccountEnded(`The provider ended the session: ${describe(error)}`)
      throw error
    }
  }

  /** The URL at which the provider ends its own session; undefined if the provider has no such URL. */
  async findLogout(returnTo: string): Promise<string | undefined> {
    const config = await this.#configure()
    if (config.serverMetadata().end_session_endpoint === undefined) return undefined
    return oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: returnTo }).href
  }

  close(): Promise<void> {
    return this.#http.close()
  }

  #toIdentity(subject: string, claims: Claims): Identity {
    return toIdentity(this.#settings.issuer, subject, claims)
  }

  /** Adds the claims of the userinfo endpoint: some providers send name and groups only there. */
  async #complete(config: oidc.Configuration, claims: oidc.IDToken, accessToken: string): Promise<Claims> {
    const isComplete = claims.preferred_username !== undefined && claims.groups !== undefined
    if (isComplete || config.serverMetadata().userinfo_endpoint === undefined) return claims
    return { ...(await oidc.fetchUserInfo(config, accessToken, claims.sub)), ...claims }
  }

  #configure(): Promise<oidc.Configuration> {
    const now = this.#now()
    if (this.#found && Math.abs(now - this.#found.at) < metadataMs) return this.#found.config
    const config = this.#discover().catch((error: unknown) => {
      this.#found = undefined
      throw this.#toRefusal(error)
    })
    this.#found = { at: now, config }
    return config
  }

  #discover(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings
    const authentication = clientSecret === undefined ? oidc.None() : undefined
    return oidc.discovery(new URL(issuer), clientId, clientSecret, authentication, {
      // The signature is checked even though the token arrives over TLS: a proxy may end TLS elsewhere.
      execute: [oidc.enableNonRepudiationChecks, ...(isInsecure(new URL(issuer)) ? [oidc.allowInsecureRequests] : [])],
      [oidc.customFetch]: (url, { method, headers, body }) => this.#send(url, { method, headers, body }),
    })
  }

  /** Sends a request of openid-client. Redirects are not followed: openid-client rejects a response with a redirect. */
  async #send(url: string, { method, headers, body }: Pick<oidc.CustomFetchOptions, 'method' | 'headers' | 'body'>) {
    const sent = { method: method as 'GET', headers, ...(body != null && { body: toBody(body) }) }
    const limits = { timeoutMs: requestMs, bytesMax: responseBytesMax }
    const answer = await this.#http.send(new URL(url), sent, limits)
    const isEmpty = answer.status === 204 || answer.status === 304
    return new Response(isEmpty ? null : answer.bytes, { status: answer.status, headers: answer.headers })
  }

  #toRefusal(error: unknown): unknown {
    if (error instanceof RegistryError) return error
    if (error instanceof Error && isRegistryError(error.cause)) return error.cause
    if (error instanceof oidc.AuthorizationResponseError)
      return new RegistryError('forbidden', `The identity provider did not sign you in: ${describe(error)}.`)
    const detail = `The answer of the identity provider ${this.#settings.issuer} is not valid (${describe(error)}). Sign in again.`
    return new RegistryError('forbidden', detail, { cause: error })
  }
}

/** An error as one short line: its text may come from the provider, or from a page that imitates the provider. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error'
  const { error: code, error_description: more }: Error & { error?: string; error_description?: string } = error
  const { cause } = error
  const texts = code === undefined ? [error.message, cause instanceof Error ? cause.message : undefined] : [code, more]
  return toVisibleText(texts.filter(Boolean).join(': ')).replaceAll(/\s+/g, ' ').slice(0, 300)
}

function toBody(body: NonNullable<oidc.CustomFetchOptions['body']>): string | Uint8Array {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  return String(body)
}

function requireIssuer(issuer: string): void {
  const url = URL.parse(issuer)
  const isSafe = url?.protocol === 'https:' || (url !== null && isInsecure(url))
  if (isSafe && url.username === '' && url.search === '' && url.hash === '') return
  throw new TypeError(
    `The issuer must be the https:// URL of an identity provider, without a query, such as https://login.example.com.`,
  )
}

/** Whether the URL has no TLS, which is allowed for a provider on this machine. */
function isInsecure(url: URL): boolean {
  return url.protocol === 'http:' && isLoopbackHost(url)
}
