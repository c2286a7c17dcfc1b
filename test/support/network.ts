import { once } from 'node:events'
import { createServer, request as ask, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** What came from the node behind, before it goes on. */
export interface Passing {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** How many answers came before it. */
  readonly count: number
}

/**
 * What becomes of an answer: another one, undefined where it goes through as it is, or a `cut`: the connection ends after
 * so many bytes of the body, though the head promises all of them.
 */
export type Fault = (passing: Passing) => Outcome | Promise<Outcome>
type Outcome =
  | { status?: number; headers?: Record<string, string>; body?: Uint8Array | string }
  | { cut: number }
  | undefined

/** A network on loopback between a mirror and a node, which a test makes worse. */
export interface Network {
  /** Stands for the node behind it. */
  readonly url: string
  /** `GET /api/v1/feed?since=0`, in their order. */
  readonly requests: readonly string[]
  /** From the next answer on. */
  fault: Fault | undefined
  /** Another node takes the place of the one behind. */
  leadTo(url: string): void
  close(): Promise<void>
}

/** Opens a network in front of a node. Answers go through it unpacked and one by one, as they come. */
export async function openNetwork(target: string): Promise<Network> {
  const requests: string[] = []
  let [behind, count] = [target, 0]
  const server = createServer((request, response) => {
    const { method = 'GET', url: path = '/' } = request
    requests.push(`${method} ${path}`)
    // What is packed cannot be altered in a way that means something.
    const { 'accept-encoding': _packed, host: _host, ...headers } = request.headers
    const onward = ask(new URL(path, behind), { method, headers, agent: false }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', () => response.destroy())
      answer.on('end', () => {
        const { statusCode: status = 0 } = answer
        const passing = { method, path, status, headers: answer.headers, body: Buffer.concat(chunks), count: count++ }
        void pass(network.fault, passing, response)
      })
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const network: Network = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    fault: undefined,
    leadTo: (url) => void (behind = url),
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return network
}

async function pass(fault: Fault | undefined, passing: Passing, response: ServerResponse): Promise<void> {
  const outcome = await fault?.(passing)
  if (response.destroyed) return
  const { 'transfer-encoding': _framed, connection: _hop, 'keep-alive': _kept, ...headers } = passing.headers
  if (outcome && 'cut' in outcome) {
    response.writeHead(passing.status, { ...headers, 'content-length': passing.body.length })
    response.write(passing.body.subarray(0, outcome.cut), () => response.destroy())
    return
  }
  const body = Buffer.from(outcome?.body ?? passing.body)
  const length = passing.status === 304 ? {} : { 'content-length': body.length }
  response.writeHead(outcome?.status ?? passing.status, { ...headers, ...outcome?.headers, ...length })
  response.end(body)
}

/** Only answers of addresses that match. */
export function on(path: RegExp, fault: Fault): Fault {
  return (passing) => (path.test(passing.path) ? fault(passing) : undefined)
}

/** Ends the connection in the middle. `share` is from 0 to 1. */
export function cut(share: number): Fault {
  return ({ body }) => ({ cut: Math.floor(body.length * share) })
}

/** Truncates the response and adjusts its length, so that it looks complete. */
export function truncate(share: number): Fault {
  return ({ body }) => ({ body: body.subarray(0, Math.floor(body.length * share)) })
}

/** Changes one bit. */
export function corrupt(share: number): Fault {
  return ({ body }) => {
    const altered = Buffer.from(body)
    const at = Math.min(altered.length - 1, Math.floor(altered.length * share))
    if (at >= 0) altered[at]! ^= 1
    return { body: altered }
  }
}

/** Delays the response. */
export function delay(ms: number): Fault {
  return async () => {
    await setTimeout(ms)
    return undefined
  }
}

/** Repeats the first response to every later request of the same path. */
export function replay(): Fault {
  const kept = new Map<string, Passing>()
  return (passing) => {
    const [place] = passing.path.split('?')
    const first = kept.get(place!) ?? passing
    kept.set(place!, first)
    return { status: first.status, body: first.body }
  }
}

/** Changes what an answer in JSON says. */
export function rewrite<Value>(change: (value: Value, passing: Passing) => unknown): Fault {
  return (passing) => ({ body: JSON.stringify(change(JSON.parse(passing.body.toString()) as Value, passing)) })
}
