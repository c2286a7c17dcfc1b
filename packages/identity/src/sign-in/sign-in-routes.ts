import { guest, localApi, type Registry } from '@skillstead/core'
import { type GroupRule, type OperatorContext, refuseIdentity, signInIdentity } from '@skillstead/core/internal'
import {
  type Answer,
  type GatewayCall,
  type GatewayHost,
  type GatewayRoute,
  requireClientAddress,
  toJsonAnswer,
} from '@skillstead/gateways'
import { RegistryError } from '@skillstead/protocol'
import { openPending, pendingMs, sealPending, toLocalPath } from './pending.ts'
import type { Provider } from './provider.ts'

/** What the routes of a sign-in need. */
export interface SignInParts {
  readonly registry: Registry
  readonly context: OperatorContext
  readonly provider: Provider
  readonly issuer: string
  readonly rules: readonly GroupRule[]
  /** Receives errors of the background requests to the provider. */
  readonly onError: (error: unknown) => void
}

const cookie = 'sign-in'

/**
 * `GET /login` redirects to the provider, which redirects to `GET /login/callback`. `POST /logout` ends the session of
 * the node, and returns the URL at which the provider ends its own session.
 */
export function createSignInRoutes(parts: SignInParts, host: GatewayHost): GatewayRoute[] {
  const ofBrowser = { endpoint: 'signIn', origins: 'none', toFailure: toTextFailure } as const
  return [
    {
      ...ofBrowser,
      pattern: '/login',
      methods: ['GET'],
      admission: 'guests',
      answer: (call) => begin(parts, host, call),
    },
    {
      ...ofBrowser,
      pattern: '/login/callback',
      methods: ['GET'],
      admission: 'guests',
      answer: (call) => finish(parts, host, call),
    },
    {
      pattern: '/logout',
      endpoint: 'signOut',
      methods: ['POST'],
      admission: 'api',
      origins: 'own',
      answer: (call) => signOut(parts, host, call),
    },
  ]
}

async function begin({ context, provider }: SignInParts, host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const { url, checks } = await provider.begin(toRedirectUri(host, call))
  const next = toLocalPath(call.url!.searchParams.get('next'))
  const sealed = sealPending(context.secrets, { ...checks, next, endsAt: context.clock.now() + pendingMs })
  return toRedirect(url.href, [host.toCookie(call, cookie, sealed, pendingMs / 1000)])
}

async function finish(parts: SignInParts, host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const { context, provider, issuer, rules } = parts
  const pending = openPending(context.secrets, host.readCookie(call, cookie), context.clock.now())
  try {
    const answer = new URL(`${toRedirectUri(host, call)}${call.url!.search}`)
    const { identity, refreshToken } = await provider.finish(answer, pending)
    const session = await signInIdentity(context, identity, rules, {
      state: pending.state,
      stateEndsAt: pending.endsAt,
      refreshToken: refreshToken === undefined ? null : context.secrets.seal(refreshToken),
    })
    // The cookie lasts as long as the longest session: the database decides when the session ends.
    return toRedirect(requireClientAddress(host, call) + pending.next, [
      host.toCookie(call, 'session', session.token, sessionCookieSeconds),
      host.toCookie(call, cookie, '', 0),
    ])
  } catch (error) {
    // A request without a pending sign-in fails before `try`, so it is not recorded: anyone could fill the audit log
    // with such requests.
    if (error instanceof RegistryError) await refuseIdentity(context, issuer, error.message)
    throw error
  }
}

const sessionCookieSeconds = 12 * 60 * 60

/** Ends the node's session. Returns the URL that ends the provider's session; null for a session of other origin. */
async function signOut({ registry, provider }: SignInParts, host: GatewayHost, call: GatewayCall): Promise<Answer> {
  const sessionToken = call.caller.kind === 'user' ? host.readCookie(call, 'session') : undefined
  await localApi(registry, guest, { sessionToken }).deleteSession()
  const isOfProvider = call.caller.kind === 'user' && call.caller.makerId === undefined
  const location = isOfProvider ? await findLogout(provider, `${requireClientAddress(host, call)}/`) : null
  return toJsonAnswer(call, { location }, [host.toCookie(call, 'session', '', 0)])
}

/** The URL that ends the provider's session; null if the provider does not answer: the node's session ends anyway. */
async function findLogout(provider: Provider, returnTo: string): Promise<string | null> {
  try {
    return (await provider.findLogout(returnTo)) ?? null
  } catch {
    return null
  }
}

function toRedirectUri(host: GatewayHost, call: GatewayCall): string {
  return `${requireClientAddress(host, call)}/login/callback`
}

function toRedirect(location: string, cookies: readonly (readonly [string, string])[]): Answer {
  const headers = [['location', location] as const, ['referrer-policy', 'no-referrer'] as const, ...cookies]
  return { status: 303, body: null, headers: headers.map(([name, value]) => [name, value]) }
}

/** Errors of the sign-in as plain text, because people read them in their browser. */
function toTextFailure({ message }: RegistryError) {
  return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(`${message}\n`) }
}
