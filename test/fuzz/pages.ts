import { hostileText, hostileValue, oddHeaders, rawJson } from './hostile.ts'
import type { FuzzRequest, Temper } from './requests.ts'
import type { Source } from './valid.ts'

/** Paths outside the API, with values for their parameters. */
const pages: readonly string[] = [
  '/',
  '/docs',
  '/docs/{any}',
  '/docs/api/{any}',
  '/docs/guides/{any}',
  '/openapi.json',
  '/healthz',
  '/readyz',
  '/metrics',
  '/licenses.md',
  '/assets/{any}',
  '/skills/{name}',
  '/skills/{name}/files',
  '/packs/{slug}',
  '/agents/{agentKey}',
  '/users/{username}',
  '/takedowns/{any}',
  '/account/{any}/{any}',
  '/admin/{any}',
  '/.well-known/agent-skills/index.json',
  '/.well-known/agent-skills/{username}/{file}',
  '/{username}/.well-known/agent-skills/index.json',
  '/{username}/.well-known/agent-skills/{file}',
  '/{name}/.well-known/agent-skills/index.json',
  '/{name}@{version}/.well-known/agent-skills/index.json',
  '/{name}/.well-known/agent-skills/{file}',
  '/packs/{slug}/.well-known/agent-skills/index.json',
  '/packs/{slug}/.well-known/agent-skills/{username}/{file}',
  '/t/{token}/.well-known/agent-skills/index.json',
  '/t/{token}/.well-known/agent-skills/{file}',
  '/api/search?q={q}&limit={any}',
  '/clawhub/{any}',
  '/clawhub/api/v1/search?q={q}',
  '/api/v1',
  '/api/v1/{any}',
  '/api/v2/skills',
  '//api/v1/skills',
  '/api/v1/skills/',
  '/api/v1//skills',
  '/api/v1/./skills/../../../metrics',
  '/{any}',
]

const tools: Readonly<Record<string, readonly string[]>> = {
  search_skills: ['query', 'limit'],
  load_skill: ['name', 'level', 'version', 'maxTokens', 'priority'],
  list_packs: ['limit'],
  report_review: ['name', 'agentKey', 'rating', 'content'],
}
const rpcMethods = [
  'initialize',
  'ping',
  'tools/list',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'skills/list',
  'skills/read',
  'prompts/list',
  'completion/complete',
  'logging/setLevel',
  'notifications/initialized',
]

/** Makes a request of a path that the OpenAPI document does not contain. */
export function makePageRequest(source: Source, temper: Temper): FuzzRequest {
  const { chance } = source
  const request = chance.hits(0.3) ? toMessage(source, temper) : toPage(source, temper)
  const method =
    temper === 'hostile' && chance.hits(0.3)
      ? chance.pick(['HEAD', 'POST', 'OPTIONS', 'DELETE', 'TRACE'])
      : request.method
  const headers = temper === 'hostile' ? [...request.headers, chance.draw(oddHeaders)] : request.headers
  return { ...request, method, headers }
}

function toPage({ chance, pool }: Source, temper: Temper): FuzzRequest {
  const fill = (_: string, kind: string) => {
    if (temper === 'hostile' || kind === 'any') return toSegment(chance.draw(hostileText))
    const name = pool.of('name').length > 0 ? chance.pick(pool.of('name')) : 'alice/pdf'
    if (kind === 'name') return name
    if (kind === 'q') return encodeURIComponent(name)
    if (kind === 'file')
      return chance.pick([`${name.split('/').at(-1)}-1.0.0.md`, `${name.split('/').at(-1)}-1.0.0.zip`])
    return toSegment(pool.of(kind).length > 0 ? chance.pick(pool.of(kind)) : 'x')
  }
  const target = chance.pick(pages).replaceAll(/\{(\w+)\}/g, fill)
  const headers: [string, string][] = [['Accept', chance.pick(['text/html', '*/*', 'application/json'])]]
  return { temper, operation: undefined, method: 'GET', target, headers, body: undefined, json: undefined, path: {} }
}

/** A path segment may contain every character except a slash if it is escaped. */
function toSegment(text: string): string {
  return encodeURIComponent(text.toWellFormed()).slice(0, 9000)
}

/** Makes a JSON-RPC message to `/mcp`. */
function toMessage({ chance, pool }: Source, temper: Temper): FuzzRequest {
  const name = pool.of('name').length > 0 ? chance.pick(pool.of('name')) : 'alice/pdf'
  const isTool = chance.hits(0.6)
  const tool = chance.pick(Object.keys(tools))
  const value = (field: string) => {
    if (temper !== 'valid') return chance.draw(hostileValue)
    const known: Record<string, unknown> = {
      name,
      query: name,
      limit: 5,
      level: 'full',
      rating: 4,
      agentKey: 'claude:fuzz',
    }
    return known[field]
  }
  const input = Object.fromEntries(tools[tool]!.map((field) => [field, value(field)]))
  const uri = temper === 'valid' ? `skill://${name}/SKILL.md` : chance.draw(hostileText)
  const params = isTool ? { name: tool, arguments: input } : { uri, cursor: chance.draw(hostileText) }
  const method = isTool ? 'tools/call' : chance.pick(rpcMethods)
  const text = JSON.stringify({
    jsonrpc: '2.0',
    id: temper === 'valid' ? 1 : chance.draw(hostileValue),
    method,
    params,
  })
  const isBroken = temper === 'hostile' && chance.hits(0.4)
  const body = Buffer.from(isBroken ? text.replace(/"params":.*/s, () => `"params":${chance.draw(rawJson)}}`) : text)
  const headers: [string, string][] = [
    ['Content-Type', 'application/json'],
    ['Accept', 'application/json, text/event-stream'],
  ]
  return { temper, operation: undefined, method: 'POST', target: '/mcp', headers, body, json: undefined, path: {} }
}
