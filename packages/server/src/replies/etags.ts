import { hash } from 'node:crypto'

/** The strong entity tag of a body, with quotes. It is a SHA-1, which is fast; the tag is not a security feature. */
export function toEtag(body: Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`
}

/** Whether `If-None-Match` names the entity: `*`, or one of a list, compared weakly (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true
  const opaque = etag.replace(/^W\//, '')
  // A tag may contain a comma, so the list cannot be split at commas.
  for (const [, tag] of ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)) {
    if (tag === opaque) return true
  }
  return false
}
