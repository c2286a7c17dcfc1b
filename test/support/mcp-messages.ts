import type { Registry } from '@skillstead/core'
import { partsOf, withParts } from '@skillstead/core/internal'
import type { Fixture } from './server-harness.ts'

export const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
export const searchFor = (query: string) => callOf('search_skills', { query })

/** The call of a tool as a message. */
export function callOf(name: string, input: object) {
  return { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name, arguments: input } }
}

/** Sends a message as it stands, good or not. */
export function post({ node }: Fixture, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${node.url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
  })
}

interface Result {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly contents: { readonly text?: string; readonly blob?: string }[]
}

/** The message in an answer, whether it came as JSON or as the one event of a stream. */
export async function messageOf(
  response: Response,
): Promise<{ id: unknown; result?: Result; error?: { code: number; message: string } }> {
  const text = await response.text()
  return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
}

/** A registry whose searches go another way. */
export function withSearch(
  registry: Registry,
  search: (original: () => Promise<unknown>) => Promise<unknown>,
): Registry {
  const parts = partsOf(registry)
  const own = Object.create(parts.search, {
    search: { value: (...input: [never]) => search(() => parts.search.search(...input)) },
  })
  return withParts(registry, { search: own })
}
