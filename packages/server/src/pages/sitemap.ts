import { readPublicNames } from '@skillstead/core/internal'
import type { Call } from '../context/call.ts'
import type { NodeParts } from '../context/node-parts.ts'
import { nothingHere, reply } from '../replies/replies.ts'
import { escapeHtml } from './html.ts'
import type { PageRoute } from './page-texts.ts'

/** Maximum addresses of a sitemap (https://www.sitemaps.org/protocol.html). */
const addressesMax = 50_000
const keptSeconds = 600

/** The URL of the sitemap. Undefined for a private node, and if the operator did not set the public URL. */
export function toSitemapUrl({ requireKey, publicOrigin, publicPath }: NodeParts): string | undefined {
  return requireKey || publicOrigin === undefined ? undefined : `${publicOrigin}${publicPath}/sitemap.xml`
}

/** Answers `GET /sitemap.xml`: the public pages, for search engines, written at most once in ten minutes. */
export function createSitemap(node: NodeParts, routes: readonly PageRoute[]): (call: Call) => Promise<Response> {
  let kept: { readonly until: number; readonly body: Promise<Buffer> } | undefined
  return async (call) => {
    if (toSitemapUrl(node) === undefined) throw nothingHere()
    const now = node.context.clock.now()
    if (kept === undefined || kept.until <= now) {
      const written = { until: now + keptSeconds * 1000, body: writeSitemap(node, routes) }
      kept = written
      written.body.catch(() => {
        if (kept === written) kept = undefined
      })
    }
    const contentType = 'application/xml; charset=utf-8'
    const cacheControl = `public, max-age=${keptSeconds}`
    return reply(call, { status: 200, contentType, body: await kept.body, cacheControl })
  }
}

async function writeSitemap(
  { context, publicOrigin, publicPath }: NodeParts,
  routes: readonly PageRoute[],
): Promise<Buffer> {
  const lists = routes.flatMap(({ text, paths }) => paths ?? text?.path ?? [])
  const { packs, skills } = await readPublicNames(context, addressesMax - lists.length)
  const paths = [...lists, ...packs.map((slug) => `/packs/${slug}`), ...Array.from(skills, (name) => `/skills/${name}`)]
  const address = escapeHtml(`${publicOrigin}${publicPath}`)
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${paths
      .map((path) => `<url><loc>${address}${path}</loc></url>\n`)
      .join('')}</urlset>\n`,
  )
}
