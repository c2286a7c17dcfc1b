import { createHash } from 'node:crypto'

/** A page of the node itself: no scripts, nothing from other origins; its style sheet is allowed by its hash. */
export interface Page {
  readonly body: Uint8Array
  readonly csp: string
}

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { overflow-wrap: anywhere; max-width: 60rem; margin: 0 auto; padding: 1.5rem }
code, pre { font: 0.9em ui-monospace, monospace }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid #8886; border-radius: 6px }
article { margin: 1.5rem 0; padding-top: 0.5rem; border-top: 1px solid #8884 }
h3 { font-size: 1rem; margin: 0 } h3 code { font-weight: 600 }
table { display: block; overflow: auto; overflow-wrap: normal; border-collapse: collapse }
td, th { text-align: left; padding: 0.15rem 1rem 0.15rem 0; vertical-align: top }
@media (max-width: 40rem) {
  table { overflow-wrap: anywhere } table, tbody, tr { display: block } tr { padding: 0.15rem 0 } td { display: inline; padding: 0 0.6rem 0 0 }
}
nav a { margin-right: 1rem } small { opacity: 0.75 } :target { outline: 2px solid #58f }
`
const csp = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** A complete page from a title and the markup of its body. */
export function toHtmlPage(title: string, markup: string): Page {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>`
  return {
    body: Buffer.from(
      `<!doctype html><html lang="en"><head>${head}<style>${style}</style></head><body>${markup}</body></html>`,
    ),
    csp,
  }
}

export function escapeHtml(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}
