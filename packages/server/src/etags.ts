import { hash } from 'node:crypto'

/** A strong entity tag of a body, quotes included. SHA-1 for its speed: nothing trusts it. */
export function toEtag(body: Uint8Array): string {
  return `"${hash('sha1', body, 'base64url')}"`
}

/** Whether `If-None-Match` names the entity: `*`, or one of a list, compared weakly (RFC 9110, section 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true
  const opaque = etag.replace(/^W\//, '')
  // A tag may hold a comma, so the list is read tag by tag.
  for (const [, tag] of ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)) {
    if (tag === opaque) return true
  }
  return false
}
