import { createHash } from 'node:crypto'
import { apiBase } from '../context/options.ts'

/** A page outside the dashboard: no scripts, nothing from other origins. `csp` allows its style sheet by the hash. */
export interface Page {
  readonly body: Uint8Array
  readonly csp: string
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { overflow-wrap: anywhere; max-width: 60rem; margin: 0 auto; padding: 1.5rem }
code { font: 0.9em ui-monospace, monospace }
`
const csp = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The page at `/` of a node without the dashboard, with links below the path of the node's public URL. */
export function toWelcomePage(path: string): Page {
  const title = '<title>Skillstead</title>'
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width">${title}<style>${style}</style>`
  const body = `<h1>Skillstead</h1>
<p>A registry for agent skills. The API is at <a href="${path}${apiBase}/skills"><code>${path}${apiBase}</code></a>;
<a href="${path}/openapi.json">its OpenAPI document</a> describes every endpoint.</p>
<p>The dashboard and the documentation are not part of this node. In a clone of the project, run
<code>npx --yes pnpm@12 build</code> and restart the node.</p>`
  return { body: Buffer.from(`<!doctype html><html lang="en"><head>${head}</head><body>${body}</body></html>`), csp }
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
