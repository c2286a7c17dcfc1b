import { WebhookEvent, errorTable, plans, type Endpoint } from '@skillstead/protocol'
import { escapeHtml, toHtmlPage, type Page } from './html.ts'
import { isRequired, statusesOf, toOpenApiPath } from './openapi.ts'
import { eventSummaries, toOpenapiSchema } from './openapi-webhooks.ts'
import { apiBase } from '../context/options.ts'
import { inputFields, routes, type Route } from '../endpoints/routes.ts'

/**
 * The API reference for people, generated from the endpoint table. `path` is the path of the node's public URL, below
 * which its links are.
 */
export function toDocsPage(origin: string, path: string): Page {
  const tags = [...new Set(routes.map(({ endpoint }) => endpoint.tag))]
  const markup = [
    '<h1>Skillstead: API reference</h1>',
    toIntroduction(origin, path),
    `<nav>${tags.map((tag) => `<a href="#${toAnchor(tag)}">${escapeHtml(tag)}</a>`).join('')}<a href="#events">Events</a><a href="#errors">Errors</a></nav>`,
    ...tags.map(toSection),
    toEventSection(path),
    toErrorSection(),
  ]
  return toHtmlPage('Skillstead: API reference', markup.join('\n'))
}

/** The page at `/`, with links below the path of the node's public URL. */
export function toWelcomePage(path: string): Page {
  return toHtmlPage(
    'Skillstead',
    `<h1>Skillstead</h1>
<p>A registry for agent skills. The API is at <a href="${path}${apiBase}/skills"><code>${path}${apiBase}</code></a>.</p>
<p>The dashboard is not part of this node. In a clone of the project, run <code>npx --yes pnpm@12 build</code> and restart
the node.</p>
<ul><li><a href="${path}/docs">API reference</a></li><li><a href="${path}/openapi.json">OpenAPI document</a></li></ul>`,
  )
}

function toIntroduction(origin: string, path: string): string {
  const rates = Object.entries(plans).map(([plan, { requestsPerMinute }]) => `${plan} ${requestsPerMinute}`)
  return `<p>Every path is below <code>${escapeHtml(origin + path + apiBase)}</code>. Requests and responses are JSON in UTF-8. Send a key as
<code>Authorization: Bearer ssk_...</code>. In a path a full name is
<code>alice%2Fpdf</code>, or <code>alice/pdf</code> unless its second part is the name of a subresource, such as
<code>versions</code>. A short name means your own skill of that name, or else the skill that owns the short name.</p>
<p>Default requests per minute: ${escapeHtml(rates.join(', '))}. Every response has the remaining requests in
<code>X-RateLimit-Remaining</code>. Responses to <code>GET</code> have an <code>ETag</code>.
The same as an OpenAPI document: <a href="${path}/openapi.json">openapi.json</a>.</p>`
}

function toSection(tag: string): string {
  const articles = routes.filter(({ endpoint }) => endpoint.tag === tag).map(toArticle)
  return `<section><h2 id="${toAnchor(tag)}">${escapeHtml(tag)}</h2>${articles.join('\n')}</section>`
}

function toArticle(route: Route): string {
  const { endpoint, name } = route
  const needs = [
    endpoint.auth === 'none' ? '' : endpoint.auth === 'admin' ? 'administrators' : 'a key',
    endpoint.auth === 'none' ? '' : `scope ${endpoint.scope ?? 'read'}`,
    endpoint.plan ? `the ${endpoint.plan} plan` : '',
  ].filter(Boolean)
  return `<article id="${name}"><h3><code>${endpoint.method} ${escapeHtml(toOpenApiPath(endpoint.path))}</code></h3>
<p>${escapeHtml(endpoint.summary)}. <small>${needs.length > 0 ? `Needs ${needs.join(', ')}. ` : ''}Returns ${statusesOf(endpoint).join(' or ')}.</small></p>
${toFieldTable(route)}</article>`
}

function toFieldTable({ endpoint, pathNames }: Route): string {
  const rows = Object.entries(inputFields(endpoint)).map(([field, schema]) => {
    const place = pathNames.includes(field)
      ? 'path'
      : endpoint.method === 'GET' || endpoint.method === 'DELETE'
        ? 'query'
        : 'body'
    const needed = place === 'path' || isRequired(schema) ? 'required' : ''
    const type = field === 'archive' ? endpoint.uploads!.join(' or ') : toTypeText(toOpenapiSchema(schema, 'input'))
    return `<tr><td><code>${escapeHtml(field)}</code></td><td>${place}</td><td>${escapeHtml(type)}</td><td>${needed}</td></tr>`
  })
  return rows.length > 0 ? `<table>${rows.join('')}</table>` : ''
}

/** A schema in a few words. */
function toTypeText(schema: Record<string, unknown>): string {
  const { type, enum: choices, const: only, anyOf, default: initial, minimum, maximum, maxLength } = schema
  const options = (anyOf as Record<string, unknown>[] | undefined)?.map((option) => toTypeText(option))
  const base = (choices as unknown[] | undefined)?.join(' | ') ?? (only === undefined ? undefined : `${String(only)}`)
  const bounds = [
    minimum === undefined ? '' : `from ${String(minimum)}`,
    maximum === undefined ? '' : `to ${String(maximum)}`,
    maxLength === undefined ? '' : `to ${String(maxLength)} characters`,
    initial === undefined || initial === '' ? '' : `Default: ${JSON.stringify(initial)}`,
  ].filter(Boolean)
  return [base ?? [...new Set(options)].join(' or ') ?? '', base || options ? '' : String(type ?? 'any'), ...bounds]
    .filter(Boolean)
    .join(', ')
}

function toEventSection(path: string): string {
  const rows = WebhookEvent.options.map(({ entries: { event, data } }) => {
    const fields = Object.entries<Endpoint['input']>(data.entries).map(toFieldText).join(', ')
    return `<tr><td><code>${event.literal}</code></td><td>${eventSummaries[event.literal]}</td><td>${fields}</td></tr>`
  })
  return `<section><h2 id="events">Events</h2><p>Sent to webhooks as <code>{ id, event, timestamp, data }</code>; a 2xx response
within 5 seconds confirms the delivery. The headers are in <a href="${path}/openapi.json">openapi.json</a>.</p>
<table>${rows.join('')}</table></section>`
}

/** A field of an event's data, with the names of its own fields. */
function toFieldText([name, schema]: [string, Endpoint['input']]): string {
  const inner = 'entries' in schema ? ` { ${Object.keys(schema.entries as object).join(', ')} }` : ''
  return `<code>${name}${inner}</code>`
}

function toErrorSection(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, title }]) =>
      `<tr><td>${status}</td><td><code>${code}</code></td><td>${escapeHtml(title)}</td></tr>`,
  )
  return `<section><h2 id="errors">Errors</h2><p><code>application/problem+json</code> (RFC 9457); <code>code</code> is one of these.</p>
<table>${rows.join('')}</table></section>`
}

function toAnchor(tag: string): string {
  return tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')
}
