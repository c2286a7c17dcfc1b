import type { Logger } from 'pino'
import type { PlanName } from '@skillstead/protocol'

/**
 * Requests a minute: for callers without a key by address, for the others by user at their plan's rate. `files` and
 * `mebibytes` are the downloads of artifacts a minute for each address.
 */
export type Rates = Readonly<Record<'anonymous' | PlanName | 'files' | 'mebibytes', number>>

/** Files by their path below the folder that they are served from, each read when it is first asked for. */
export type StaticFiles = ReadonlyMap<string, () => Uint8Array>

export interface NodeOptions {
  /** The plans' rates where it is not said; `off` limits nobody. */
  readonly rates?: Partial<Rates> | 'off'
  /** Networks (CIDR) whose `X-Forwarded-*` and `Host` headers are believed. None where it is not said. */
  readonly trustedProxies?: readonly string[]
  /** The address that the outside knows the node by, as in `https://skills.example.com`. */
  readonly publicUrl?: string
  /** Sites whose pages may call without a key, as in `https://app.example.com`. Default: none. */
  readonly corsOrigins?: readonly string[]
  /** Nothing but `/healthz` and `/readyz` without a key. */
  readonly requireKey?: boolean
  /** The slug of the pack that installers find at the root of the node. None where it is not said. */
  readonly discoveryPack?: string
  /** Opens `/metrics` beyond loopback, as a Bearer token. */
  readonly metricsToken?: string
  /** One line a request, and every unexpected error. Silent where it is not said. */
  readonly logger?: Logger
  /** The built app of `@skillstead/dashboard`, with `index.html` in it. A plain welcome stands at `/` where it is not given. */
  readonly dashboard?: StaticFiles
  /** How many addresses have an allowance of their own at a time; those above it share some. */
  readonly addressesMax?: number
}
