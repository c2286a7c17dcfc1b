import { createHash, timingSafeEqual } from 'node:crypto'
import type { H3 } from 'h3'
import { RegistryError } from '@skillstead/protocol'
import type { Call } from '../context/call.ts'
import type { ReplyPage } from './answer-page.ts'
import { replyBadge } from './badge.ts'
import { mountDashboard } from './dashboard.ts'
import { toHandler } from '../admission/handler.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { toWelcomePage, type Page } from './html.ts'
import { toOpenApi } from './openapi.ts'
import type { NodeOptions } from '../context/options.ts'
import { toShownSite } from './site.ts'
import { toSitemapUrl } from './sitemap.ts'
import { nothingHere, reply } from '../replies/replies.ts'

type Work = (call: Call) => Response | Promise<Response>

/**
 * Mounts the pages outside the API: the OpenAPI document, health checks, metrics and the dashboard. Returns the
 * function that responds with a page of the dashboard; undefined on a node without a dashboard.
 */
export function mountPages(
  app: H3,
  node: NodeParts,
  options: Pick<NodeOptions, 'metricsToken' | 'dashboard' | 'site' | 'signIn'>,
): ReplyPage | undefined {
  const { publicOrigin, publicPath } = node
  const originOf = (call: Call) => publicOrigin ?? node.addresses.originOf(call.request) ?? ''
  const presented = toShownSite(options.site, options.signIn?.label)
  const site = { ...presented, recordsInstallers: node.context.recordInstallers === true }
  const showPage = options.dashboard && mountDashboard(app, node, options.dashboard, site)
  const mount = (path: string, endpoint: string, admission: 'files' | 'documents' | 'probe', work: Work) => {
    const crossOrigin = endpoint === 'openapi'
    const shown = admission === 'documents' && { replyPage: showPage }
    app.all(path, toHandler(node, { endpoint, admission, methods: ['GET', 'HEAD'], crossOrigin, work, ...shown }))
  }
  const openApi = keepLast((origin) => Buffer.from(JSON.stringify(toOpenApi(origin, publicPath))))

  if (!options.dashboard) mount('/', 'welcome', 'files', (call) => replyPage(call, toWelcomePage(publicPath)))
  mount('/openapi.json', 'openapi', 'documents', (call) => {
    const contentType = 'application/json; charset=utf-8'
    return reply(call, { status: 200, contentType, body: openApi(originOf(call)), cacheControl: 'no-cache' })
  })
  mount('/badge/:owner/:file', 'badge', 'files', (call) => replyBadge(node, call))
  mount('/healthz', 'health', 'probe', (call) => replyJson(call, { status: 'ok' }))
  mount('/readyz', 'readiness', 'probe', (call) => replyReadiness(node, call))
  mount('/metrics', 'metrics', 'probe', async (call) => {
    if (!node.addresses.isLoopback(call.request) && !holdsToken(call, options.metricsToken)) throw nothingHere()
    return reply(call, {
      status: 200,
      contentType: node.metrics.contentType,
      body: Buffer.from(await node.metrics.render(node.registry)),
    })
  })
  mount('/robots.txt', 'robots', 'probe', (call) => replyRobots(node, call))
  return showPage
}

async function replyReadiness(node: NodeParts, call: Call): Promise<Response> {
  if (node.draining) throw new RegistryError('shutting_down', 'The node is shutting down.')
  const parts = Object.entries(await node.registry.readiness())
  const errors = parts.filter(([, ready]) => !ready).map(([path]) => ({ path, message: 'is not ready' }))
  if (errors.length === 0) return replyJson(call, { ready: true, ...Object.fromEntries(parts) })
  const names = errors.map(({ path }) => path).join(', ')
  throw new RegistryError('overloaded', `Not ready: ${names}.`, { errors, retryAfterSeconds: 5 })
}

/**
 * Replies with robots.txt. On a public node, it admits search engines to the public pages, and to the API, because the
 * pages load their content from the API.
 */
function replyRobots(node: NodeParts, call: Call): Response {
  const { requireKey, publicPath } = node
  const closed = requireKey ? ['/'] : ['/account', '/admin', '/device', '/t/', '/git/']
  const sitemap = toSitemapUrl(node)
  const rules = closed.map((path) => `Disallow: ${publicPath}${path}`)
  const lines = ['User-agent: *', ...rules, ...(sitemap ? ['', `Sitemap: ${sitemap}`] : []), '']
  const body = Buffer.from(lines.join('\n'))
  return reply(call, { status: 200, contentType: 'text/plain; charset=utf-8', body, cacheControl: 'no-cache' })
}

function replyJson(call: Call, value: unknown): Response {
  return reply(call, {
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(JSON.stringify(value)),
  })
}

function replyPage(call: Call, { body, csp }: Page): Response {
  const contentType = 'text/html; charset=utf-8'
  const headers: [string, string][] = [
    ['content-security-policy', csp],
    ['referrer-policy', 'no-referrer'],
  ]
  return reply(call, { status: 200, contentType, body, cacheControl: 'no-cache', headers })
}

/** Whether a request has the token for `/metrics`. Constant-time comparison of digests: not even the length leaks. */
function holdsToken(call: Call, token: string | undefined): boolean {
  if (!token) return false
  return timingSafeEqual(digestToken(call.header('authorization') ?? ''), digestToken(`Bearer ${token}`))
}

function digestToken(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Returns `make` with a cache for the last origin: the result is made again only if the origin changes. */
function keepLast<T>(make: (origin: string) => T): (origin: string) => T {
  let kept: { origin: string; made: T } | undefined
  return (origin) => {
    if (kept?.origin !== origin) kept = { origin, made: make(origin) }
    return kept.made
  }
}
