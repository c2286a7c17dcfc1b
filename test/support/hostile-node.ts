import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endpoints, toProblemType, type Endpoint } from '@skillstead/protocol'
import * as v from 'valibot'
import { onFileFinished } from './file-end.ts'

/** What a terminal obeys, or shows as something else: a sequence each of ECMA-48, with 7 and 8 bits, and of Unicode. */
export const hostileText = [
  'x\u001B[2J\u001B[1A\u001B[5;41m\u001B]52;c;aGk=\u0007\u001B]8;;http://e.example\u001B\\y\u001Bc',
  '\u009B2J\u009D0;t\u009C\u0090q\u009C\u0085\u0084\r\b\u0000\u007F\u000B\u000C',
  '\u202E\u2066\u061C\u200E\u200B\u2028\u2029\u00AD\uFEFF\u{E0041}\u{E0020}z',
].join('')

/** The styles of the command line itself, and what its progress bars write to a terminal. */
// oxlint-disable-next-line no-control-regex -- it looks for them
const ownSequences = /\u001B(?:[78]|\[(?:(?:1|2|22|31|32|33|39)m|\?25[hl]|\?7[hl]|[01]G|[012]?K))/g

/** The first place at which a text has what a terminal obeys, apart from line breaks, tabs and the command's own styles. */
export function findControl(text: string): string | undefined {
  const others = text.replaceAll(ownSequences, '')
  const found = /[^\P{Cc}\n\t]|[\p{Cf}\u2028\u2029]/u.exec(others)
  return found ? JSON.stringify(others.slice(Math.max(0, found.index - 60), found.index + 20)) : undefined
}

/**
 * How a hostile node answers: with texts where its schemas have texts of any kind; with them where the formats of the
 * schemas allow it; with a problem document; with headers, and a body that is none of the above; with a redirect.
 */
export const hostileAnswers = ['texts', 'valid texts', 'problem', 'headers', 'redirect'] as const

export interface HostileNode {
  readonly url: string
  /** The requests so far, as method and path. */
  readonly requests: string[]
  answers: (typeof hostileAnswers)[number]
}

/** Header values may have bytes from 0x80, which are C1 controls in Latin-1. */
const hostileHeader = 'x\u009B2J\u009D0;t\u009C'

/** Serves every endpoint of the endpoint table, with what a terminal obeys in every field. */
export async function openHostileNode(): Promise<HostileNode> {
  const server = createServer((request, response) => {
    request.resume()
    const { method = '', url = '/' } = request
    const { pathname } = new URL(url, node.url)
    node.requests.push(`${method} ${pathname}`)
    answer(response, node.answers, findEndpoint(method, pathname))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onFileFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => void server.close(resolve))
  })
  const node: HostileNode = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answers: 'texts',
  }
  return node
}

function answer(response: ServerResponse, kind: HostileNode['answers'], endpoint: Endpoint | undefined): void {
  response.statusMessage = hostileHeader
  response.setHeader('x-request-id', hostileHeader)
  if (kind === 'redirect' && endpoint) return void response.writeHead(307, { location: `/${hostileHeader}` }).end()
  if (kind === 'headers') {
    response.writeHead(200, { 'content-type': hostileHeader, etag: hostileHeader, 'retry-after': hostileHeader })
    return void response.end(hostileText)
  }
  if (kind === 'problem' || !endpoint) {
    response.writeHead(422, { 'content-type': 'application/problem+json', 'retry-after': hostileHeader })
    const errors = [{ path: hostileText, message: hostileText }]
    const texts = { title: hostileText, detail: hostileText, requestId: hostileText, errors }
    return void response.end(
      JSON.stringify({ ...texts, type: toProblemType('invalid_request'), status: 422, code: 'invalid_request' }),
    )
  }
  const [status = 200] = [endpoint.status ?? 200].flat()
  response.writeHead(status, { 'content-type': endpoint.kind === 'content' ? 'text/markdown' : 'application/json' })
  if (status === 204) return void response.end()
  if (endpoint.kind === 'content') return void response.end(hostileText)
  response.end(JSON.stringify(toHostileValue(endpoint.output, kind === 'valid texts')))
}

const routes = Object.values<Endpoint>(endpoints).map((endpoint) => {
  const pattern = endpoint.path.replaceAll(/\/\*\*:\w+|:\w+/g, (part) => (part.startsWith('/') ? '/.+' : '[^/]+'))
  return { endpoint, pattern: new RegExp(`^/api/v1${pattern}$`) }
})

function findEndpoint(method: string, path: string): Endpoint | undefined {
  const matching = routes.filter(({ endpoint, pattern }) => endpoint.method === method && pattern.test(path))
  // A literal segment wins over a parameter.
  return matching.toSorted((a, b) => countParameters(a.endpoint) - countParameters(b.endpoint))[0]?.endpoint
}

const countParameters = ({ path }: Endpoint) => path.split(':').length

type Schema = v.GenericSchema

/** Texts that formats of schemas require, with a hostile one first. */
const candidates: readonly string[] = [
  hostileText,
  `https://example.org/${hostileText}`,
  'alice/pdf',
  'pdf',
  '1.0.0',
  '2026-01-31T12:00:00.000Z',
  '2026-01-31',
  '2e5b1c9e-6c4e-4c53-9a3e-2f6f3a3f8f10',
  `sha256:${'a'.repeat(64)}`,
  'https://example.org/',
  'alice@example.org',
  'claude:1',
]

/** A value of a schema whose texts are hostile. `isValid` keeps the formats; otherwise every text is hostile. */
function toHostileValue(schema: Schema, isValid: boolean): unknown {
  const parts = schema as unknown as {
    type: string
    entries?: Record<string, Schema>
    item?: Schema
    items?: Schema[]
    wrapped?: Schema
    options?: unknown[]
    literal?: unknown
    value?: Schema
  }
  const make = (one: Schema) => toHostileValue(one, isValid)
  switch (parts.type) {
    case 'object':
    case 'strict_object':
    case 'loose_object':
      return Object.fromEntries(Object.entries(parts.entries!).map(([name, one]) => [name, make(one)]))
    case 'array':
      return parts.item!.type === 'variant'
        ? (parts.item as unknown as { options: Schema[] }).options.map(make)
        : [make(parts.item!)]
    case 'tuple':
      return parts.items!.map(make)
    case 'record':
      return { [hostileText]: make(parts.value!) }
    case 'nullable':
    case 'optional':
    case 'nullish':
      return make(parts.wrapped!)
    case 'variant':
    case 'union':
      return make(parts.options![0] as Schema)
    case 'picklist':
      return isValid ? parts.options!.at(-1) : hostileText
    case 'literal':
      return isValid || typeof parts.literal !== 'string' ? parts.literal : hostileText
    case 'string':
      return isValid ? (candidates.find((one) => v.is(schema, one)) ?? hostileText) : hostileText
    case 'number':
      return 1
    case 'boolean':
      return !isValid
    case 'undefined':
      return undefined
    case 'unknown':
    case 'any':
      return { [hostileText]: hostileText }
    default:
      throw new TypeError(`A schema of the type ${parts.type} has no hostile value.`)
  }
}
