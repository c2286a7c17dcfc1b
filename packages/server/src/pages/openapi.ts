import {
  allowances,
  errorTable,
  keysOf,
  planNames,
  tagTexts,
  toProblemType,
  type Endpoint,
  type EndpointName,
} from '@skillstead/protocol'
import { tellsFreshness } from '../endpoints/freshness.ts'
import { takesIdempotencyKey } from '../endpoints/idempotency.ts'
import { toOpenapiSchema, toWebhookParameters, toWebhooks } from './openapi-webhooks.ts'
import { apiBase } from '../context/options.ts'
import { hasBody, inputFields, routes, type Route } from '../endpoints/routes.ts'
import { toSecureCookieName } from '../admission/sessions.ts'

type Json = Record<string, unknown>

const rateHeaders = {
  'X-RateLimit-Limit': {
    description: 'The limit per window: requests per minute, unless another limit was hit.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'The rest of the limit in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': {
    description: 'Unix time in seconds when the window resets.',
    schema: { type: 'integer' },
  },
  RateLimit: { description: 'draft-ietf-httpapi-ratelimit-headers.', schema: { type: 'string' } },
  'RateLimit-Policy': { description: 'draft-ietf-httpapi-ratelimit-headers.', schema: { type: 'string' } },
  'X-Request-Id': { description: "The request's id, yours if you sent one.", schema: { type: 'string' } },
  ETag: { description: 'On `GET`; send it as `If-None-Match` to get 304.', schema: { type: 'string' } },
}

/** The names of the response headers about rate limits. */
const limitHeaders = Object.keys(rateHeaders).filter((name) => /ratelimit/i.test(name))

const cookieHeaders = {
  'Set-Cookie': { description: 'Starts or ends the session of a dashboard.', schema: { type: 'string' } },
}

const freshnessHeaders = {
  Age: {
    description: 'For content from an upstream: seconds since the upstream confirmed it.',
    schema: { type: 'integer' },
  },
  'X-Skillstead-Stale': {
    description: '`true` if that was too long ago, or if the last sync failed.',
    schema: { type: 'string' },
  },
}

/**
 * The API as an OpenAPI 3.1 document, generated from the endpoint table. `publicPath` is the path of the node's public
 * URL.
 */
export function toOpenApi(origin: string, publicPath: string): Json {
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
      description: 'A registry for agent skills. Write a full name in a path segment as `owner%2Fname`.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: origin + publicPath + apiBase }],
    tags: Object.entries(tagTexts).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: toWebhooks(),
    components: {
      ...toOpenapiComponents(publicPath),
      headers: { ...rateHeaders, ...cookieHeaders, ...freshnessHeaders },
      parameters: toWebhookParameters(),
    },
  }
}

/** `/skills/:name/files/**:path` as `/skills/{name}/files/{path}`. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/(?:\*\*)?:([A-Za-z]+)/g, '{$1}')
}

/** The success statuses of an endpoint, the usual status first. */
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
    ...toOperationText(endpoint),
    security: toSecurity(route),
    'x-auth': endpoint.auth,
    'x-scope': endpoint.scope ?? 'read',
    parameters: [
      ...pathNames.map((field) => toOpenapiParameter('path', field, fields[field]!)),
      ...inQuery.map((field) => toOpenapiParameter('query', field, fields[field]!)),
      ...requestHeaders.filter(({ isTaken }) => isTaken(route)).map(toHeaderParameter),
    ],
    ...(bodyNames.length > 0 && { requestBody: toRequestBody(endpoint, fields, bodyNames) }),
    responses: toResponses(route),
  }
}

/**
 * The description of an operation. It states facts for which OpenAPI has no field: the required plan and the abuse
 * limits.
 */
export function toOperationText({ plan, allowances: names = [] }: Endpoint): { readonly description?: string } {
  const sentences = plan ? [`Needs the ${plan} plan or a higher one, which an administrator sets.`] : []
  for (const name of names) {
    const { limit, windowSeconds, of } = allowances[name]
    const window = windowSeconds === 3600 ? 'an hour' : `in ${windowSeconds / 3600} hours`
    sentences.push(`In addition to the plan's request limit: at most ${limit} ${of} ${window} (\`${name}\`).`)
  }
  return sentences.length > 0 ? { description: sentences.join(' ') } : {}
}

/** Operations that agents perform, whose data is stored per agent. */
const agentActions: ReadonlySet<EndpointName> = new Set([
  ...(['registerAgent', 'heartbeat', 'createAgentReview', 'markAgentReviewHelpful'] as const),
  ...(['publishSkill', 'track'] as const),
])

interface RequestHeader {
  readonly name: string
  readonly description: string
  readonly schema?: Json
  isTaken(route: Route): boolean
}

/** Request headers that only some operations read. */
export const requestHeaders: readonly RequestHeader[] = [
  {
    name: 'Idempotency-Key',
    description: 'The same key and body within 24 hours return the first response again.',
    schema: { minLength: 1, maxLength: 255 },
    isTaken: takesIdempotencyKey,
  },
  {
    name: 'X-Agent-Token',
    description: 'Proves that the caller is the agent that the token was shown to.',
    isTaken: ({ name }) => agentActions.has(name),
  },
  {
    name: 'X-Case-Token',
    description: 'The token that the response to the claim contained; it opens the whole case.',
    isTaken: ({ name }) => name === 'getDmca',
  },
  {
    name: 'X-Share-Token',
    description: 'Opens the private skill that its owner shared by this link.',
    isTaken: ({ endpoint }) =>
      endpoint.method === 'GET' && endpoint.auth === 'none' && endpoint.path.startsWith('/skills/:name'),
  },
]

function toHeaderParameter({ name, description, schema }: RequestHeader): Json {
  return { name, in: 'header', description, schema: { type: 'string', ...schema } }
}

/** The ways to authenticate, any of which is sufficient; `{}` means that no authentication is needed. */
function toSecurity({ name, endpoint }: Route): Json[] {
  const ways: Json[] = [{ apiKey: [] }]
  if (endpoint.auth === 'none') ways.unshift({})
  if (name !== 'createSession') ways.push({ session: [], ownPage: [] })
  return ways
}

function toOpenapiParameter(place: 'path' | 'query', name: string, schema: Endpoint['input']): Json {
  // A list is sent as one comma-separated parameter; numbers and flags are sent as text.
  return { name, in: place, required: place === 'path' || isRequired(schema), schema: toOpenapiSchema(schema, 'input') }
}

function toRequestBody(endpoint: Endpoint, fields: ReturnType<typeof inputFields>, names: readonly string[]): Json {
  const required = names.filter((name) => isRequired(fields[name]!))
  const json = {
    type: 'object',
    properties: Object.fromEntries(names.map((name) => [name, toOpenapiSchema(fields[name]!, 'input')])),
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
    responses[status] = {
      description: 'Done.',
      headers,
      ...(status !== 204 && { content: toResponseContent(endpoint) }),
    }
  }
  if (endpoint.method === 'GET') responses[304] = { description: 'Not modified.', headers }
  if (endpoint.path.startsWith('/skills/:name')) {
    const location = { Location: { description: 'The same address with the new name.', schema: { type: 'string' } } }
    responses[308] = { description: 'The skill was transferred.', headers: { ...headers, ...location } }
  }
  responses[429] = { $ref: '#/components/responses/RateLimited' }
  responses.default = { $ref: '#/components/responses/Problem' }
  return responses
}

function toHeaderRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

function toResponseContent(endpoint: Endpoint): Json {
  if (endpoint.kind === 'content') return { '*/*': { schema: { type: 'string', contentEncoding: 'binary' } } }
  return { 'application/json': { schema: toOpenapiSchema(endpoint.output, 'output') } }
}

function toOpenapiComponents(publicPath: string): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } }
  return {
    securitySchemes: {
      apiKey: { type: 'http', scheme: 'bearer', description: `A key: \`ssk_...\`. Plans: ${planNames.join(', ')}.` },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: toSecureCookieName(publicPath),
        description: 'The session of a dashboard; over plain HTTP the name has no prefix.',
      },
      ownPage: {
        type: 'apiKey',
        in: 'header',
        name: 'X-Skillstead-Session',
        description: "`1`, sent by the node's own pages only: without it the session cookie is ignored.",
      },
    },
    responses: {
      Problem: { description: 'An error (RFC 9457).', content },
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
  const codes = keysOf(errorTable)
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
