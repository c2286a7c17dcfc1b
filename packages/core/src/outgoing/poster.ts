import { RegistryError } from '@skillstead/protocol'
import type { Agent, Dispatcher } from 'undici'
import { createConnector, type Guard } from './connector.ts'
import { headerBytesMax } from './request.ts'
import type { OutgoingPost } from './outgoing.ts'

/** Connections to one origin. */
const connectionsMax = 64
/** How long one is kept that nothing goes over; what the other side says of it counts where it is shorter. */
const keepAliveMs = 4000
/** So much of an answer is read that the connection can be used again; before a longer one it is closed. */
const drainedBytesMax = 16 * 1024

/** POSTs over connections that are kept, for those who are told many things. */
export interface Poster {
  post(url: URL, request: OutgoingPost): Promise<number>
  close(): Promise<void>
}

export function createPoster(guard: Guard): Poster {
  let agent: Promise<Agent> | undefined
  let isClosed = false

  async function makeAgent(): Promise<Agent> {
    const { Agent } = await import('undici')
    return new Agent({
      connect: await createConnector(guard),
      connections: connectionsMax,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: headerBytesMax,
      // The deadline covers all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  return {
    async post(url, request) {
      if (isClosed) throw toClosed()
      const made = await (agent ??= makeAgent())
      return new Promise((resolve, reject) => send(made, url, request, resolve, reject)).catch((error: unknown) => {
        throw isClosed ? toClosed(error) : error
      }) as Promise<number>
    },
    async close() {
      isClosed = true
      await (await agent)?.destroy()
    },
  }
}

function send(
  agent: Agent,
  url: URL,
  { headers, body, timeoutMs }: OutgoingPost,
  resolve: (status: number) => void,
  reject: (error: unknown) => void,
): void {
  let controller: Dispatcher.DispatchController | undefined
  let isLate = false
  let bytes = 0
  const late = new RegistryError('upstream_timeout', 'There was no answer in time.')
  const timer = setTimeout(() => {
    isLate = true
    controller?.abort(late)
    reject(late)
  }, timeoutMs)
  const options = { origin: url.origin, path: url.pathname + url.search, method: 'POST' as const, headers, body }
  agent.dispatch(options, {
    onRequestStart(started) {
      controller = started
      // A connection that came too late.
      if (isLate) started.abort(late)
    },
    onResponseStart(_controller, status) {
      if (status >= 200) resolve(status)
    },
    onResponseData(started, chunk) {
      bytes += chunk.length
      if (bytes > drainedBytesMax) started.abort(new Error('There is more of the answer than anybody reads.'))
    },
    onResponseEnd: () => clearTimeout(timer),
    onResponseError(_controller, error) {
      clearTimeout(timer)
      reject(error)
    },
  })
}

function toClosed(cause?: unknown): RegistryError {
  return new RegistryError('shutting_down', 'The node is shutting down.', { cause })
}
