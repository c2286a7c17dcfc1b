import type { Logger } from 'pino'
import type { Answer, Gateway, GatewayCall, GatewayHost, GatewayName } from '@skillstead/gateways'
import type { PlanName } from '@skillstead/protocol'

/** The path prefix of the API. */
export const apiBase = '/api/v1'

/**
 * Requests per minute: for callers without a key per address (`anonymous`), for users by their plan. `files` and
 * `mebibytes` limit the downloads of artifacts per minute and address.
 */
export type Rates = Readonly<Record<'anonymous' | PlanName | 'files' | 'mebibytes', number>>

/** Functions that read files, by the path of the file below the served folder; each file is read on first use. */
export type StaticFiles = ReadonlyMap<string, () => Uint8Array>

/** How the operator presents the node: on its pages, and in previews of their links. */
export interface Site {
  /** At most 60 characters. Default: Skillstead. */
  readonly name?: string | undefined
  /** A sentence about the node of at most 300 characters. Default: A registry for agent skills. */
  readonly text?: string | undefined
  /** The content of an SVG or PNG file of at most 256 KiB. Default: the logo of Skillstead. */
  readonly logo?: Uint8Array | undefined
}

/** Options of a node. */
export interface NodeOptions {
  /** The rate limits; `off` disables them. Default: the rates of the plans. */
  readonly rates?: Partial<Rates> | 'off'
  /** Networks (CIDR) whose `X-Forwarded-*` and `Host` headers are trusted. Default: none. */
  readonly trustedProxies?: readonly string[]
  /** The public URL of the node: `https://skills.example.com`, or with a path, such as `https://example.com/skills`. */
  readonly publicUrl?: string
  /** Origins whose pages may call without a key, such as `https://app.example.com`. Default: none. */
  readonly corsOrigins?: readonly string[]
  /** Requires a key for all content. Guests can use health checks, the sign-in and the app's files. Default: false. */
  readonly requireKey?: boolean
  /** The protocols of other ecosystems that the node speaks. Default: all. */
  readonly gateways?: readonly GatewayName[]
  /** The sign-in by an identity provider, from `createSignIn` of `@skillstead/identity`. Default: by API key only. */
  readonly signIn?: { readonly label: string; readonly routes: Gateway } | undefined
  /**
   * Loads the exchange of tokens of CI jobs, from `createTokenExchange` of `@skillstead/identity`, at its first
   * request. Default: the node exchanges no tokens.
   */
  readonly tokenExchange?: () => Promise<(host: GatewayHost, call: GatewayCall) => Promise<Answer>>
  /** The slug of the pack that installers find at the root of the node. Default: none. */
  readonly discoveryPack?: string
  /** Bearer token that opens `/metrics` for clients other than loopback. */
  readonly metricsToken?: string
  /** Logs one line per request, and every unexpected error. Default: no log. */
  readonly logger?: Logger
  /** The built app of `@skillstead/dashboard`, with its `index.html`. Default: a plain welcome page at `/`. */
  readonly dashboard?: StaticFiles
  /** The name, text and logo of the dashboard. `createNode` throws a TypeError for an invalid value. */
  readonly site?: Site | undefined
}
