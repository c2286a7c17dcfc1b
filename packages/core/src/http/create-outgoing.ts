import { RegistryError } from '@skillstead/protocol'
import { lookUp, toSecureContext, type Guard } from './connector.ts'
import { fail, isUnknownName, toUpstreamFailed } from './request-failures.ts'
import { createOffline } from './offline.ts'
import type { NameResolver, Outgoing, OutgoingOptions, OutgoingRequest, OutgoingResponse } from './outgoing.ts'
import { createPoster } from './poster.ts'
import { createAddressRules } from './public-addresses.ts'
import { requestOnce } from './outgoing-request.ts'
import { createSystemResolver } from './system-resolver.ts'
import { parseSecureTarget, parseTarget, requireAllowed, toHost, toLiteral } from './request-target.ts'

const requestMs = 10_000
const resolveMs = 5_000
const redirectsMax = 3

/** Creates the guarded HTTP client. Throws a TypeError for networks and certificates that cannot be parsed. */
export function createOutgoing(options: OutgoingOptions): Outgoing {
  const rules = createAddressRules(options.allowNetworks ?? [])
  const resolver = options.resolver ?? createSystemResolver()
  const guard: Guard = { resolver, rules, secureContext: toSecureContext(options.ca ?? []) }
  if (options.offline) return createOffline(rules)
  const poster = createPoster(guard)
  const running = new Set<AbortController>()
  let closed = false

  /** Runs work with a deadline; closing the registry also cancels it. */
  async function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => controller.abort(), ms)
    running.add(controller)
    if (closed) controller.abort()
    try {
      return await unlessAborted(work, signal)
    } catch (error) {
      if (closed) throw new RegistryError('shutting_down', 'The node is shutting down.', { cause: error })
      if (signal.aborted)
        throw new RegistryError('upstream_timeout', 'The host did not respond in time.', { cause: error })
      throw error instanceof RegistryError ? error : toUpstreamFailed(error)
    } finally {
      clearTimeout(timer)
      running.delete(controller)
    }
  }

  async function follow(address: string, bytesMax: number, signal: AbortSignal): Promise<OutgoingResponse> {
    let url = parseTarget(address, 'url')
    for (let redirects = 0; ; redirects++) {
      const answer = await requestOnce({ url, bytesMax, signal, guard })
      if (!('redirect' in answer)) return answer
      if (redirects === redirectsMax) throw fail('answers with one redirect after another')
      url = toNext(url, answer.redirect)
    }
  }

  return {
    isOffline: false,
    async requirePublic(address, field) {
      const url = parseTarget(address, field)
      const host = toHost(url)
      const addresses = await within(resolveMs, () => lookUp(resolver, host)).catch(() => toLiteral(host))
      requireAllowed(host, addresses, rules, field)
      return url
    },
    get: (address, { bytesMax, timeoutMs = requestMs }: OutgoingRequest) =>
      within(timeoutMs, (signal) => follow(address, bytesMax, signal)),
    async post(address, request) {
      try {
        return await poster.post(parseSecureTarget(address, 'url'), request)
      } catch (error) {
        throw error instanceof RegistryError ? error : toUpstreamFailed(error)
      }
    },
    readTxt: (name) => within(resolveMs, () => readTxt(resolver, name)),
    async close() {
      closed = true
      for (const controller of running) controller.abort()
      await poster.close()
    },
  }
}

async function readTxt(resolver: NameResolver, name: string): Promise<string[]> {
  try {
    return (await resolver.txt(name)).map((parts) => parts.join(''))
  } catch (error) {
    if (isUnknownName(error)) return []
    throw error
  }
}

/**
 * Resolves a redirect. Only the same host is allowed, and no downgrade from https: any other target may belong to
 * someone else.
 */
function toNext(from: URL, location: string): URL {
  const next = URL.canParse(location, from) ? new URL(location, from) : undefined
  const isOnward = next?.hostname === from.hostname && (next.protocol === from.protocol || next.protocol === 'https:')
  if (!next || !isOnward) throw fail('answers with a redirect to another place, which is not followed')
  return parseTarget(next.href, 'url')
}

/** Rejects as soon as the signal is aborted: DNS queries cannot be cancelled, but the caller need not wait for them. */
function unlessAborted<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work(signal).then(resolve, reject)
  })
}
