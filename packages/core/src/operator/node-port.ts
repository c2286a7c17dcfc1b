import type { RateLimits } from '@skillstead/protocol'

/** Facts that the HTTP node reports about itself to the registry. */
export interface NodePort {
  /** Version of the program. */
  readonly version: string
  readonly rates: Pick<RateLimits, 'on' | 'anonymous' | 'plans'>
  /** The number of requests that the node refused because of a rate limit since its start. */
  limited(): Promise<number>
}

/** Holder for the HTTP node that serves a registry. */
export interface ServingNode {
  /** Undefined while no HTTP node serves the registry. */
  readonly port: NodePort | undefined
  attach(port: NodePort): void
}

export function createServingNode(): ServingNode {
  let port: NodePort | undefined
  return {
    get port() {
      return port
    },
    attach: (attached) => void (port = attached),
  }
}
