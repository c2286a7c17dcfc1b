import { tagTexts, type Endpoint } from '@skillstead/protocol'
import { apiBase } from '../context/options.ts'
import { hasBody, inputFields, routes, type Route } from '../endpoints/routes.ts'
import { toSampleInput } from './sample-input.ts'
import { isRequired, requestHeaders, statusesOf, toOpenApiPath, toOperationText } from './openapi.ts'
import { type JsonSchema, toOpenapiSchema } from './openapi-webhooks.ts'

/** The URL of the node in examples: pages replace it by the address at which they are open. */
const exampleNode = 'https://skills.example.com'

const answerCharactersMax = 4000

/** The endpoints in Markdown, by group, as a section of the guide to the API. */
export function toEndpointList(): string {
  const groups = Object.entries(tagTexts).map(([tag, text]) => {
    const own = routes.filter(({ endpoint }) => endpoint.tag === tag)
    const items = own.map(
      ({ name, endpoint }) => `- [${name}](api/${name}.md): ${endpoint.summary}. ${toRequest(endpoint)}`,
    )
    return `### ${tag}\n\n${text}\n\n${items.join('\n')}\n`
  })
  return `## Endpoints\n\nEach with its fields, examples, and a form that calls it.\n\n${groups.join('\n')}\n`
}

/** The reference of an endpoint in Markdown. */
export function toOperationMarkdown(route: Route): string {
  const { name, endpoint } = route
  const fields = listFields(route).map(({ field, place, required, type }) => {
    const line = type.replaceAll(/(?<!\{)\n +(?![ }])/g, '; ').replaceAll(/\s+/g, ' ')
    return `- \`${field}\` (${place}${required ? ', required' : ''}): \`${line}\``
  })
  const headers = requestHeaders.filter(({ isTaken }) => isTaken(route))
  fields.push(...headers.map((header) => `- \`${header.name}\` (header): ${header.description}`))
  return [
    `# ${name}`,
    `${endpoint.summary}. Of the group [${endpoint.tag}](../api.md#${endpoint.tag.toLowerCase().replaceAll(' ', '-')}).`,
    toRequest(endpoint),
    `${toNeeds(endpoint)} ${toOperationText(endpoint).description ?? ''}`.trim(),
    fields.length > 0 ? `## Fields\n\n${fields.join('\n')}` : '',
    `## Examples\n\n${toFence('sh', toCurl(route))}\n\n${toFence('ts', toTypeScript(route))}`,
    `## Answer\n\nStatus ${statusesOf(endpoint).join(' or ')}. [Errors](../errors.md) are problem documents with a code.`,
    endpoint.kind === 'content' ? 'The body is the file itself.' : '',
    statusesOf(endpoint)[0] === 204 || endpoint.kind === 'content' ? '' : toFence('ts', toAnswer(endpoint)),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** The operations as the documentation's pages need them: for the search and for the fields of their forms. */
export function listOperations() {
  return routes.map((route) => ({
    name: route.name,
    method: route.endpoint.method,
    path: apiBase + toOpenApiPath(route.endpoint.path),
    summary: route.endpoint.summary,
    fields: listFields(route),
  }))
}

/** The key that a caller needs for an endpoint, as a sentence. */
function toNeeds({ auth, scope = 'read' }: Endpoint): string {
  if (auth === 'none') return 'Works without a key.'
  const who = auth === 'admin' ? "an administrator's key" : 'a key'
  return `Needs ${who} with the scope \`${scope}\`.`
}

function toRequest({ method, path }: Endpoint): string {
  return `\`${method} ${apiBase}${toOpenApiPath(path)}\``
}

function toFence(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

function listFields(route: Route) {
  const sample = toSampleInput(route)
  const inputs = Object.entries(inputFields(route.endpoint)).filter(([field]) => field !== 'archive')
  return inputs.map(([field, input]) => {
    const schema = toOpenapiSchema(input, 'input')
    return {
      field,
      place: route.pathNames.includes(field) ? 'path' : hasBody(route.endpoint) ? 'body' : 'query',
      required: route.pathNames.includes(field) || isRequired(input),
      type: toShape(schema, 3).replace(/^number \| string$/, 'number') + toLimits(schema),
      isText: schema.type === 'string',
      sample: sample[field],
    }
  })
}

function toLimits({ minimum, maximum, maxLength, default: initial }: JsonSchema): string {
  const limits = [
    minimum === undefined ? '' : ` from ${minimum}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : ` to ${maximum}`,
    maxLength === undefined ? '' : `, at most ${maxLength} characters`,
    initial === undefined || initial === '' ? '' : `, default ${JSON.stringify(initial)}`,
  ]
  return limits.join('')
}

/** The response as a TypeScript type, without the innermost objects if it would be too long to be highlighted. */
function toAnswer({ output }: Endpoint): string {
  const schema = toOpenapiSchema(output, 'output')
  const shapes = [9, 4, 3, 2].map((depth) => toShape(schema, depth))
  return shapes.find((one) => one.length <= answerCharactersMax) ?? shapes.at(-1)!
}

/** A schema as a TypeScript type. Objects nested deeper than `depth` are left out. */
function toShape(schema: JsonSchema, depth: number, indent = ''): string {
  const { type, properties, required = [], items, anyOf, enum: choices, const: only } = schema
  if (only !== undefined || choices) return (choices ?? [only]).map((one) => JSON.stringify(one)).join(' | ')
  // The schema of a flag or number also accepts text, because it may be in the query: the type shows only the flag or
  // number.
  const plain = anyOf?.find((one) => one.type === 'boolean')
  if (plain) return 'boolean'
  if (anyOf) return [...new Set(anyOf.map((one) => toShape(one, depth, indent)))].join(' | ')
  if (items) {
    const item = toShape(items, depth, indent)
    return items.anyOf || items.enum ? `(${item})[]` : `${item}[]`
  }
  if (properties && depth > 0) {
    const lines = Object.entries(properties).map(([name, one]) => {
      return `${indent}  ${name}${required.includes(name) ? '' : '?'}: ${toShape(one, depth - 1, `${indent}  `)}`
    })
    return `{\n${lines.join('\n')}\n${indent}}`
  }
  return type === 'integer' ? 'number' : type === 'array' ? 'unknown[]' : (type ?? 'unknown')
}

/** The sample request as a shell command with curl. */
function toCurl(route: Route): string {
  const { endpoint, pathNames } = route
  const input = toSampleInput(route)
  const path = toOpenApiPath(endpoint.path).replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const encoded = encodeURIComponent(String(input[name]))
    return name === 'path' ? encoded.replaceAll('%2F', '/') : encoded
  })
  const rest = Object.entries(input).filter(([name]) => !pathNames.includes(name))
  const inQuery = hasBody(endpoint) ? [] : rest.map(([name, value]): [string, string] => [name, String(value)])
  const query = inQuery.length > 0 ? `?${new URLSearchParams(inQuery)}` : ''
  return [
    `curl${endpoint.method === 'GET' ? '' : ` -X ${endpoint.method}`} ${quote(exampleNode + apiBase + path + query)}`,
    ...(endpoint.auth === 'none' ? [] : ['-H "Authorization: Bearer $SKILLSTEAD_KEY"']),
    ...(hasBody(endpoint) && rest.length > 0
      ? ["-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(Object.fromEntries(rest)))}`]
      : []),
  ].join(' \\\n  ')
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The sample request by the client of `@skillstead/client`. */
function toTypeScript(route: Route): string {
  const key = route.endpoint.auth === 'none' ? '' : ', apiKey: process.env.SKILLSTEAD_KEY'
  const input = toSampleInput(route)
  const text = JSON.stringify(input, null, 2).replaceAll(/^( +)"([A-Za-z]\w*)":/gm, '$1$2:')
  return [
    "import { createClient } from '@skillstead/client'",
    '',
    `const api = createClient({ baseUrl: '${exampleNode}'${key} })`,
    `const answer = await api.${route.name}(${Object.keys(input).length === 0 ? '' : text})`,
  ].join('\n')
}
