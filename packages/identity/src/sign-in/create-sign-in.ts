import type { OutgoingOptions, Registry } from '@skillstead/core'
import { type GroupRule, partsOf, printError } from '@skillstead/core/internal'
import type { Gateway } from '@skillstead/gateways'
import { Provider, type ProviderSettings } from './provider.ts'
import { startRefreshing } from './refresh-sessions.ts'
import { createSignInRoutes } from './sign-in-routes.ts'

/** Options of {@link createSignIn}. */
export interface SignInOptions extends ProviderSettings {
  /** The rights of groups of the provider, from `parseGroupRules`. Default: groups give no rights. */
  readonly groups?: readonly GroupRule[]
  /** Certificates and proxies for requests to the provider. */
  readonly outgoing?: Pick<OutgoingOptions, 'ca' | 'proxy'>
  /** Receives errors of requests to the provider that no user waits for. Default: prints them. */
  readonly onError?: (error: unknown) => void
}

/** The sign-in of a node: the option `signIn` of its server. */
export interface SignIn {
  /** The host of the provider, as the sign-in page shows it. */
  readonly label: string
  readonly routes: Gateway
  /** Starts asking the provider regularly whether the accounts of open sessions still exist. */
  start(): void
  /** Stops asking the provider, and waits for open requests to it. The registry stays open. */
  close(): Promise<void>
}

/**
 * Creates the sign-in by an identity provider. Sends no request to the provider before a user signs in or `start` is
 * called. Throws a TypeError for an issuer that is not an HTTPS URL, and for a registry without `secretKey`.
 *
 * @example
 * const signIn = createSignIn(registry, { issuer: 'https://login.example.com', clientId: 'skillstead', clientSecret })
 * await listenNode(registry, { publicUrl: 'https://skills.example.com', signIn })
 * signIn.start()
 */
export function createSignIn(registry: Registry, options: SignInOptions): SignIn {
  const context = partsOf(registry)
  if (!context.secrets.isReady)
    throw new TypeError(
      'The sign-in encrypts refresh tokens with the secret key of the node. Set SKILLSTEAD_SECRET_KEY, or pass a `secretKey` of 32 bytes.',
    )
  const provider = new Provider(options, () => context.clock.now(), options.outgoing)
  const { issuer, groups: rules = [], onError = printError } = options
  const parts = { registry, context, provider, issuer, rules, onError }
  let stop: (() => Promise<void>) | undefined
  return {
    label: new URL(issuer).host,
    routes: (host) => createSignInRoutes(parts, host),
    start() {
      stop ??= startRefreshing(parts)
    },
    async close() {
      await Promise.all([stop?.(), provider.close()])
    },
  }
}
