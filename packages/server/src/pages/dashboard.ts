import { brotliCompress, constants, gzip } from 'node:zlib'
import { promisify } from 'node:util'
import type { H3 } from 'h3'
import type { Header } from '@skillstead/gateways'
import type { Call } from '../context/call.ts'
import { toEtag } from '../replies/etags.ts'
import { toHandler } from '../admission/handler.ts'
import type { NodeParts } from '../context/node-parts.ts'
import type { StaticFiles } from '../context/options.ts'
import { nothingHere, reply } from '../replies/replies.ts'

/** The routes of the app; the app itself loads their content. */
const pages = [
  '/',
  '/skills/:owner/:name',
  '/skills/:owner/:name/:tab',
  '/packs',
  '/packs/:slug',
  '/trending',
  '/agents',
  '/agents/:agentKey',
  '/users',
  '/users/:username',
  '/requests',
  '/external',
  '/takedowns',
  '/takedowns/:id',
  '/account',
  '/account/**',
  '/device',
  '/admin',
  '/admin/**',
]

/** No inline code and nothing from other origins; text becomes markup only through the app's own sanitizer. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
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
  md: 'text/plain; charset=utf-8',
  svg: 'image/svg+xml',
}

type Coding = 'br' | 'gzip' | 'identity'
interface Kept {
  readonly etag: string
  readonly bytes: Map<Coding, Promise<Uint8Array>>
}

/** Responds with the page of the app, which loads the content itself, or shows that the address does not exist. */
export type ReplyPage = (call: Call, status: 200 | 404) => Promise<Response>

/** Mounts the app: its page at every route, and its files. Returns the function that serves the page. */
export function mountDashboard(app: H3, node: NodeParts, files: StaticFiles): ReplyPage {
  const keptFiles = new Map<string, Kept>()

  const replyFile = async (
    call: Call,
    path: string,
    cacheControl: string,
    headers: readonly Header[],
    status: 200 | 404 = 200,
  ) => {
    const read = files.get(path)
    if (!read) throw nothingHere()
    const kept =
      keptFiles.get(path) ?? keepFile(path === 'index.html' ? withPublicPath(read(), node.publicPath) : read())
    keptFiles.set(path, kept)
    const coding = chooseCoding(call.header('accept-encoding') ?? '')
    const own: Header[] = [...headers, ['vary', 'Accept-Encoding']]
    if (coding !== 'identity') own.push(['content-encoding', coding])
    return reply(call, {
      status,
      contentType: contentTypes[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      body: await encodeFile(kept, coding),
      etag: `${kept.etag.slice(0, -1)}-${coding}"`,
      cacheControl,
      headers: own,
    })
  }
  // A page counts as one request, however many files it loads.
  const mount = (path: string, admission: 'page' | 'open-files', work: (call: Call) => Promise<Response>) => {
    const entry = { endpoint: 'dashboard', methods: ['GET', 'HEAD'], crossOrigin: false } as const
    app.all(path, toHandler(node, { ...entry, admission, work }))
  }
  const replyPage: ReplyPage = (call, status) => {
    call.crossOrigin = false
    return replyFile(call, 'index.html', 'no-cache', pageHeaders, status)
  }
  for (const path of pages) mount(path, 'page', (call) => replyPage(call, 200))
  mount('/assets/:file', 'open-files', (call) => {
    // The file name contains a digest of its content.
    return replyFile(call, (call.url?.pathname ?? '').slice(1), 'public, max-age=31536000, immutable', [])
  })
  mount('/licenses.md', 'open-files', (call) => replyFile(call, 'licenses.md', 'no-cache', []))
  return replyPage
}

/** The page with the addresses of its files below the path of the node's public URL. */
function withPublicPath(page: Uint8Array, path: string): Uint8Array {
  return path === ''
    ? page
    : Buffer.from(
        Buffer.from(page)
          .toString()
          .replaceAll(/ (href|src)="\//g, ` $1="${path}/`),
      )
}

function keepFile(bytes: Uint8Array): Kept {
  return { etag: toEtag(bytes), bytes: new Map([['identity', Promise.resolve(bytes)]]) }
}

async function encodeFile({ bytes }: Kept, coding: Coding): Promise<Uint8Array> {
  const made = bytes.get(coding) ?? compressFile(coding, await bytes.get('identity')!)
  bytes.set(coding, made)
  return made
}

function compressFile(coding: Coding, plain: Uint8Array): Promise<Uint8Array> {
  if (coding === 'gzip') return promisify(gzip)(plain, { level: 9 })
  return promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: plain.byteLength } })
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
