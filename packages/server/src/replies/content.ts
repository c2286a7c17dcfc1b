import type { Content } from '@skillstead/protocol'
import type { Header } from '@skillstead/gateways'

const csp: Header = ['content-security-policy', "sandbox; default-src 'none'"]

/**
 * The headers of published bytes. The bytes are untrusted and share an origin with the dashboard, so a browser must not
 * guess a type, run code, or display anything but plain text and Markdown.
 */
export function toContentHeaders({ contentType, etag, filename }: Content) {
  const shown = /^text\/(?:plain|markdown)(?:$|[;\s])/i.test(contentType)
  const disposition: Header = ['content-disposition', toDisposition(shown ? 'inline' : 'attachment', filename)]
  return { contentType, etag: etag && (etag.startsWith('"') ? etag : `"${etag}"`), headers: [csp, disposition] }
}

/** The `Content-Disposition` with the last part of the file name, in plain ASCII and in UTF-8 (RFC 6266, RFC 8187). */
function toDisposition(kind: 'inline' | 'attachment', filename: string | undefined): string {
  const name = filename?.split(/[/\\]/).at(-1)?.replaceAll(/\p{C}/gu, '')
  if (!name) return kind
  const ascii = name.replaceAll(/[^\x20-\x7e]|["%]/g, '_')
  if (ascii === name) return `${kind}; filename="${ascii}"`
  const encoded = encodeURIComponent(name.toWellFormed()).replaceAll(/['()*]/g, toPercentEscape)
  return `${kind}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

function toPercentEscape(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}
