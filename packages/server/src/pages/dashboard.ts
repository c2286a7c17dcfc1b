import { brotliCompress, constants, gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { H3 } from 'h3'
import type { Answer, Header } from '@skillstead/gateways'
import type { Call } from '../context/call.ts'
import { toEtag } from '../replies/etags.ts'
import { toHandler } from '../admission/handler.ts'
import type { NodeParts } from '../context/node-parts.ts'
import type { StaticFiles } from '../context/options.ts'
import { nothingHere, reply } from '../replies/replies.ts'
import { answerPage, type PageWithText, type ReplyPage } from './answer-page.ts'
import { createDocsRoutes, withReference } from './docs.ts'
import { PageTemplate } from './page-template.ts'
import { pageRoutes, toHomeRoute } from './page-texts.ts'
import type { ShownSite } from './site.ts'
import { createSitemap } from './sitemap.ts'

/**
 * The content security policy: no inline code and nothing from other origins; text becomes markup only through the
 * app's own sanitizer.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The app reads pictures that need the session or a share link, and shows them as blobs.
  "img-src 'self' blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify worker',
].join('; ')
const pageHeaders: readonly Header[] = [
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
]

const contentTypes: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/plain; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml',
}

/** Number of pages that are cached, of some kilobytes each; the page of a skill includes its SKILL.md. */
const keptPagesMax = 100

type Coding = 'br' | 'gzip' | 'identity'
interface Kept {
  readonly etag: string
  readonly kind: 'file' | 'page'
  readonly bytes: Map<Coding, Promise<Uint8Array>>
}

/** Mounts the app: its page at every route, and its files. Returns the function that responds with the page. */
export function mountDashboard(app: H3, node: NodeParts, built: StaticFiles, site: ShownSite): ReplyPage {
  const files = withReference(built)
  const keptFiles = new Map<string, Kept>()
  const keptPages = new Map<object, { readonly address: string; readonly page: Kept }>()
  const plain: PageWithText = { source: {} }
  const missing: PageWithText = {
    source: {},
    problem: { reason: 'There is no such page, or you may not see it.', headers: [] },
  }
  let template: PageTemplate | undefined

  const replyKept = async (call: Call, kept: Kept, answer: Omit<Answer, 'body'>) => {
    const coding = chooseCoding(call.header('accept-encoding') ?? '')
    const own: Header[] = [...(answer.headers ?? []), ['vary', 'Accept-Encoding']]
    if (coding !== 'identity') own.push(['content-encoding', coding])
    const body = await encodeKept(kept, coding)
    return reply(call, { ...answer, body, etag: `${kept.etag.slice(0, -1)}-${coding}"`, headers: own })
  }
  const replyFile = async (call: Call, path: string, cacheControl: string) => {
    const read = files.get(path)
    if (!read) throw nothingHere()
    const kept = keptFiles.get(path) ?? keep(read(), 'file')
    keptFiles.set(path, kept)
    const contentType = contentTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    return replyKept(call, kept, { status: 200, contentType, cacheControl })
  }
  // The page costs one request; the files that it loads cost none.
  const mount = (
    path: string,
    admission: 'page' | 'files' | 'open-files',
    work: (call: Call) => Promise<Response>,
    endpoint = 'dashboard',
  ) => {
    const entry = { endpoint, admission, methods: ['GET', 'HEAD'], crossOrigin: false, work }
    app.all(path, toHandler(node, { ...entry, ...(admission === 'page' && { replyPage }) }))
  }
  const replyPage: ReplyPage = async (call, status, page) => {
    call.crossOrigin = false
    const address = node.addressOf(call)
    const { source, shared, problem, toText, toData } = page ?? (status === 404 ? missing : plain)
    let kept = source && keptPages.get(source)
    if (kept?.address !== address) {
      const read = files.get('index.html')
      if (!read) throw nothingHere()
      template ??= new PageTemplate(Buffer.from(read()).toString(), site, node)
      const parts = { address, text: toText?.(), shared, problem: problem?.reason, data: await toData?.() }
      kept = { address, page: keep(template.write(parts), 'page') }
      if (keptPages.size >= keptPagesMax) keptPages.delete(keptPages.keys().next().value!)
      if (source) keptPages.set(source, kept)
    }
    const headers = problem ? [...pageHeaders, ...problem.headers] : pageHeaders
    const cacheControl = shared === undefined ? 'no-cache' : 'private, no-store'
    return replyKept(call, kept.page, { status, contentType: contentTypes.html, cacheControl, headers })
  }
  const routes = [toHomeRoute(site.text), ...createDocsRoutes(files), ...pageRoutes]
  for (const route of routes) mount(route.path, 'page', (call) => answerPage(node, call, route, replyPage))
  mount('/sitemap.xml', 'files', createSitemap(node, routes), 'sitemap')
  mount('/assets/:file', 'open-files', (call) => {
    // Cached forever, because the file name contains a digest of its content.
    return replyFile(call, (call.url?.pathname ?? '').slice(1), 'public, max-age=31536000, immutable')
  })
  mount('/licenses.md', 'open-files', (call) => replyFile(call, 'licenses.md', 'no-cache'))
  // The documentation is the same on every node, so a private node shows it to guests, too.
  mount('/docs/guides/**', 'open-files', (call) => {
    return replyFile(call, (call.url?.pathname ?? '').slice(1), 'no-cache')
  })
  const { logo } = site
  if (logo)
    mount('/site-logo', 'open-files', (call) => {
      // An SVG that a user opens by its own URL must not run scripts.
      const headers: Header[] = [['content-security-policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox"]]
      return Promise.resolve(reply(call, { status: 200, ...logo, cacheControl: 'public, max-age=3600', headers }))
    })
  return replyPage
}

/** The levels of compression: files are compressed once, pages while a request waits. */
const compression = { file: { brotli: 11, gzip: 9 }, page: { brotli: 4, gzip: 6 } } as const

function keep(bytes: Uint8Array, kind: Kept['kind']): Kept {
  return { etag: toEtag(bytes), kind, bytes: new Map([['identity', Promise.resolve(bytes)]]) }
}

async function encodeKept({ bytes, kind }: Kept, coding: Coding): Promise<Uint8Array> {
  const made = bytes.get(coding) ?? compress(coding, kind, await bytes.get('identity')!)
  bytes.set(coding, made)
  return made
}

function compress(coding: Coding, kind: Kept['kind'], plain: Uint8Array): Promise<Uint8Array> {
  const { brotli, gzip: level } = compression[kind]
  if (coding === 'gzip') return promisify(gzip)(plain, { level })
  const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
  return promisify(brotliCompress)(plain, {
    params: { [BROTLI_PARAM_QUALITY]: brotli, [BROTLI_PARAM_SIZE_HINT]: plain.byteLength },
  })
}

/** The best content coding that the caller accepts (RFC 9110, section 12.5.3); codings with weight 0 are not used. */
function chooseCoding(accepted: string): Coding {
  const taken = new Set(
    accepted
      .split(',')
      .map((one) => one.trim().toLowerCase())
      .filter((one) => !/;\s*q=0(?:\.0*)?$/.test(one))
      .map((one) => one.split(';')[0]!.trim()),
  )
  if (taken.has('br')) return 'br'
  return taken.has('gzip') ? 'gzip' : 'identity'
}
