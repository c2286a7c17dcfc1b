import { toJsonSchema } from '@valibot/to-json-schema'
import {
  allowances,
  errorTable,
  planNames,
  toProblemType,
  type Endpoint,
  type EndpointName,
} from '@skillstead/protocol'
import { tellsFreshness } from './freshness.ts'
import { toWebhookParameters, toWebhooks } from './openapi-webhooks.ts'
import { apiBase, hasBody, inputFields, routes, type Route } from './routes.ts'
import { secureCookieName } from './sessions.ts'

type Json = Record<string, unknown>

const rateHeaders = {
  'X-RateLimit-Limit': {
    description: 'What the limit allows in its window: requests a minute, unless another limit was hit.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'What is left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix time in seconds when the window is full again.',
    schema: { type: 'integer' },
  },
  RateLimit: { description: 'draft-ietf-httpapi-ratelimit-headers.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'draft-ietf-httpapi-ratelimit-headers.', schema: { type: 'string' } },
  'X-Request-Id': { description: "The request's id, yours if you sent one.", schema: { type: 'string' } },
  ETag: { description: 'On `GET`; send it as `If-None-Match` to get 304.', schema: { type: 'string' } },
}

/** Those of them that tell of limits. */
const limitHeaders = Object.keys(rateHeaders).filter((name) => /ratelimit/i.test(name))

const cookieHeaders = {
  'Set-Cookie': { description: 'Begins the session of a dashboard, or ends it.', schema: { type: 'string' } },
}

const freshnessHeaders = {
  Age: {
    description: 'Of what comes from an upstream: seconds since it vouched for it.',
    schema: { type: 'integer' },
  },
  'X-Skillstead-Stale': {
    description: '`true` where that was too long ago, or the last try to learn more failed.',
    schema: { type: 'string' },
  },
}

/** The interface as an OpenAPI 3.1 document, made from the endpoint table. */
export function toOpenApi(origin: string): Json {
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = toOpenApiPath(route.endpoint.path)
    paths[path] = { ...paths[path], [route.endpoint.method.toLowerCase()]: toOperation(route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Skillstead',
      version: '1',
      description: 'A registry for agent skills. A path segment holds a full name as `owner%2Fname`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin + apiBase }],
    tags: [...new Set(routes.map(({ endpoint }) => endpoint.tag))].map((name) => ({ name })),
    paths,
    webhooks: toWebhooks(),
    components: {
      ...components(),
      headers: { ...rateHeaders, ...cookieHeaders, ...freshnessHeaders },
      parameters: toWebhookParameters(),
    },
  }
}

/** `/skills/:name/files/**:path` as `/skills/{name}/files/{path}`. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/(?:\*\*)?:([A-Za-z]+)/g, '{$1}')
}

/** The JSON Schema of one field, as callers send it. */
export function toFieldSchema(schema: Endpoint['input']): Json {
  const { $schema: _, ...rest } = toJsonSchema(schema, { errorMode: 'ignore', typeMode: 'input' })
  return rest as Json
}

/** The good statuses of an endpoint, the usual one first. */
export function statusesOf({ status = 200 }: Endpoint): readonly number[] {
  return typeof status === 'number' ? [status] : status
}

/** Whether a call without the field is refused. */
export function isRequired(schema: Endpoint['input']): boolean {
  return !['optional', 'exact_optional', 'nullish'].includes(schema.type)
}

function toOperation(route: Route): Json {
  const { name, endpoint, pathNames, queryNames, plainQueryNames } = route
  const fields = inputFields(endpoint)
  const bodyNames = hasBody(endpoint) ? [...queryNames] : []
  const inQuery = endpoint.uploads ? [...queryNames] : [...plainQueryNames]
  return {
    operationId: name,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    ...toDescription(endpoint),
    security: toSecurity(route),
    'x-auth': endpoint.auth,
    'x-scope': endpoint.scope ?? 'read',
    parameters: [
      ...pathNames.map((field) => toParameter('path', field, fields[field]!)),
      ...inQuery.map((field) => toParameter('query', field, fields[field]!)),
      ...requestHeaders.filter(({ isTaken }) => isTaken(route)).map(toHeaderParameter),
    ],
    ...(bodyNames.length > 0 && { requestBody: toRequestBody(endpoint, fields, bodyNames) }),
    responses: toResponses(route),
  }
}

/** What is not said by any other field: the plan, and the limits against abuse. */
function toDescription({ plan, allowances: names = [] }: Endpoint): Json {
  const sentences = plan ? [`Needs the ${plan} plan or a higher one, which an administrator sets.`] : []
  for (const name of names) {
    const { limit, windowSeconds, of } = allowances[name]
    const window = windowSeconds === 3600 ? 'an hour' : `in ${windowSeconds / 3600} hours`
    sentences.push(`Beside the requests that the plan allows, at most ${limit} ${of} ${window} (\`${name}\`).`)
  }
  return sentences.length > 0 ? { description: sentences.join(' ') } : {}
}

/** What agents do, and what is told apart by which of them did it. */
const agentDeeds: ReadonlySet<EndpointName> = new Set([
  ...(['registerAgent', 'heartbeat', 'createAgentReview', 'markAgentReviewHelpful'] as const),
  ...(['publishSkill', 'track'] as const),
])

interface RequestHeader {
  readonly name: string
  readonly description: string
  readonly schema?: Json
  isTaken(route: Route): boolean
}

/** The headers that an operation looks at, besides those of every request. */
const requestHeaders: readonly RequestHeader[] = [
  {
    name: 'Idempotency-Key',
    description: 'The same key and body within 24 hours give the first answer again.',
    schema: { minLength: 1, maxLength: 255 },
    isTaken: ({ endpoint }) => endpoint.method === 'POST' || endpoint.method === 'PUT',
  },
  {
    name: 'X-Agent-Token',
    description: 'Proves that the caller is the agent that the token was shown to.',
    isTaken: ({ name }) => agentDeeds.has(name),
  },
  {
    name: 'X-Case-Token',
    description: 'The token that the claim was answered with: it reads the whole case.',
    isTaken: ({ name }) => name === 'getDmca',
  },
  {
    name: 'X-Share-Token',
    description: 'Opens the private skill that somebody shared by this link.',
    isTaken: ({ endpoint }) =>
      endpoint.method === 'GET' && endpoint.auth === 'none' && endpoint.path.startsWith('/skills/:name'),
  },
]

function toHeaderParameter({ name, description, schema }: RequestHeader): Json {
  return { name, in: 'header', description, schema: { type: 'string', ...schema } }
}

/** The ways of signing in, any of which will do; `{}` is none at all. */
function toSecurity({ name, endpoint }: Route): Json[] {
  const ways: Json[] = [{ apiKey: [] }]
  if (endpoint.auth === 'none') ways.unshift({})
  if (name !== 'createSession') ways.push({ session: [], ownPage: [] })
  return ways
}

function toParameter(place: 'path' | 'query', name: string, schema: Endpoint['input']): Json {
  // A list is one comma-separated parameter, and a number or a flag is text on the way.
  return { name, in: place, required: place === 'path' || isRequired(schema), schema: toFieldSchema(schema) }
}

function toRequestBody(endpoint: Endpoint, fields: ReturnType<typeof inputFields>, names: readonly string[]): Json {
  const required = names.filter((name) => isRequired(fields[name]!))
  const json = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, toFieldSchema(fields[name]!)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  }
  const uploads = Object.fromEntries(
    (endpoint.uploads ?? []).map((type) => [type, { schema: { contentEncoding: 'binary' } }]),
  )
  return { required: required.length > 0, content: { 'application/json': { schema: json }, ...uploads } }
}

function toResponses(route: Route): Json {
  const { endpoint } = route
  const names = [
    ...Object.keys(rateHeaders),
    ...(endpoint.cookie ? Object.keys(cookieHeaders) : []),
    ...(tellsFreshness(route) ? Object.keys(freshnessHeaders) : []),
  ]
  const headers = toHeaderRefs(names)
  const responses: Json = {}
  for (const status of statusesOf(endpoint)) {
    responses[status] = { description: 'Done.', headers, ...(status !== 204 && { content: toContent(endpoint) }) }
  }
  if (endpoint.method === 'GET') responses[304] = { description: 'You have it already.', headers }
  if (endpoint.path.startsWith('/skills/:name')) {
    const location = { Location: { description: 'The same address with the new name.', schema: { type: 'string' } } }
    responses[308] = { description: 'The skill was handed over.', headers: { ...headers, ...location } }
  }
  responses[429] = { $ref: '#/components/responses/RateLimited' }
  responses.default = { $ref: '#/components/responses/Problem' }
  return responses
}

function toHeaderRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function toContent(endpoint: Endpoint): Json {
  if (endpoint.kind === 'content') return { '*/*': { schema: { type: 'string', contentEncoding: 'binary' } } }
  const { $schema: _, ...schema } = toJsonSchema(endpoint.output, { errorMode: 'ignore', typeMode: 'output' })
  return { 'application/json': { schema } }
}

function components(): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }
  return {
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: `A key: \`ssk_...\`. Plans: ${planNames.join(', ')}.` },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: secureCookieName,
        description: 'The session of a dashboard; over plain HTTP the name goes without `__Host-`.',
      },
      ownPage: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Skillstead-Session',
        description: "`1`, from the node's own pages alone: without it a session does not count.",
      },
    },
    responses: {
      Problem: { description: 'Something was wrong (RFC 9457).', content },
      RateLimited: {
        description: `${errorTable.rate_limited.title}; the rate headers describe the limit that was hit.`,
        headers: { ...retryAfter, ...toHeaderRefs(limitHeaders) },
        content,
      },
    },
    schemas: { Problem: problemSchema() },
  }
}

function problemSchema(): Json {
  const codes = Object.keys(errorTable) as (keyof typeof errorTable)[]
  const field = {
    type: 'object',
    properties: { path: { type: 'string' }, message: { type: 'string' } },
    required: ['path', 'message'],
  }
  return {
    type: 'object',
    properties: {
      type: { type: 'string', enum: codes.map(toProblemType) },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string' },
      code: { type: 'string', enum: codes },
      requestId: { type: 'string' },
      errors: { type: 'array', items: field },
    },
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
  }
}
