import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { LoadedSkill } from '@skillstead/client'
import { onTestFinished } from 'vitest'

/** A server on loopback that replaces a node and returns the responses that a test defines. */
export interface StandIn {
  readonly url: string
  readonly requests: { readonly method: string; readonly path: string; readonly headers: IncomingHttpHeaders }[]
  /** Sets the handler from the next request on. */
  answer: RequestListener
  /** Stops the server and closes its connections, so that later requests fail. */
  close(): Promise<void>
}

export async function openStandIn(answer: RequestListener = sendSkill): Promise<StandIn> {
  const server = createServer((request, response) => {
    standIn.requests.push({ method: request.method!, path: request.url!, headers: request.headers })
    standIn.answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    answer,
    async close() {
      if (!server.listening) return
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  onTestFinished(() => standIn.close())
  return standIn
}

/** Answers JSON, with an ETag where one is given; 304 to whom has it. */
export function send(body: unknown, { status = 200, etag = '', headers = {} } = {}): RequestListener {
  return (request, response) => {
    if (etag && request.headers['if-none-match'] === etag) return void response.writeHead(304, { etag }).end()
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': 'application/json', ...(etag && { etag }), ...headers }).end(text)
  }
}

/** Answers a problem, as a node does. */
export function sendProblem(status: number, code: string, headers: Record<string, string> = {}): RequestListener {
  const problem = { type: `urn:skillstead:problem:${code}`, title: code, status, detail: `It is ${code}.`, code }
  const type = { 'content-type': 'application/problem+json' }
  return send({ ...problem, requestId: 'r1' }, { status, headers: { ...type, ...headers } })
}

/** A page that a network or a proxy sends instead of what was asked for. */
export function sendPageOf(status: number): RequestListener {
  return (_, response) =>
    response
      .writeHead(status, { 'content-type': 'text/html; charset=utf-8' })
      .end('<html><h1>Sign in to our Wi-Fi</h1></html>')
}

/** The page that a hotel sends instead of what was asked for. */
export const sendPage = sendPageOf(200)

/** Answers every load as a node with one skill would. */
export const sendSkill: RequestListener = (request, response) => {
  const level = new URL(request.url!, 'http://localhost').searchParams.get('level') as LoadedSkill['level']
  send(loadedSkill(level), { etag: `"1-${level}"` })(request, response)
}

const levels = ['metadata', 'contract', 'summary', 'full']

/** A skill as `GET /skills/alice%2Fpdf/load` answers it. */
export function loadedSkill(level: LoadedSkill['level'] = 'full', version = '1.0.0'): LoadedSkill {
  const place = levels.indexOf(level)
  const tool = { name: 'pdf', description: 'Reads PDF files', parameters: { type: 'object', properties: {} } }
  const author = { id: '0192d3a4-0000-7000-8000-000000000001', username: 'alice', avatarUrl: '' }
  const names = { name: 'pdf', fullName: 'alice/pdf' }
  const flags = { downloads: 3, securityScore: 100, verified: false, deprecated: false }
  return {
    level,
    metadata: { ...names, version, description: 'Reads PDF files', author, ...flags, keywords: ['pdf'] },
    frontmatter: { name: 'pdf', description: 'Reads PDF files', ...(place === 3 && { license: 'MIT' }) },
    truncated: [],
    ...(place >= 1 && { contract: null, capabilities: [], toolDefinition: tool }),
    ...(place >= 2 && { summary: 'Reads them.' }),
    ...(place >= 3 && { fullContent: '---\nname: pdf\ndescription: Reads PDF files\n---\n# PDF\n\nReads them.\n' }),
  } as LoadedSkill
}
