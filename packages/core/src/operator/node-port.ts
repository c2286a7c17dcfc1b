import type { RateLimits } from '@skillstead/protocol'

/** What the node that serves a registry knows of itself. */
export interface NodePort {
  /** Of the program. */
  readonly version: string
  readonly rates: Pick<RateLimits, 'on' | 'anonymous' | 'plans'>
  /** The requests refused since it started. */
  limited(): Promise<number>
}

/** The place where the node that serves a registry is attached. */
export interface ServingNode {
  /** Undefined as long as nobody comes from outside. */
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
