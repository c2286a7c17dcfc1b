import { RegistryError } from '@skillstead/protocol'

/** A parsed http(s) URL without hidden parts. */
export interface Address {
  readonly url: URL
  /** The decoded segments of the path as written: the URL parser would silently resolve `..`. */
  readonly segments: readonly string[]
  /** Decoded, without the `#`. */
  readonly hash: string
}

const segmentsMax = 32

/**
 * Parses an http(s) URL. Throws `invalid_request` that names `url` for anything else, and for URLs that mislead
 * readers.
 */
export function readAddress(text: string): Address {
  // The URL parser would silently drop line breaks and change backslashes.
  if (/[\s\p{C}\\]/u.test(text)) throw refuseUrl('must not contain spaces, backslashes or control characters')
  const [, scheme, authority, path = '', hash = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/is.exec(text) ?? []
  if (scheme === undefined || authority === undefined)
    throw refuseUrl('must be a URL that begins with https://, or a source such as owner/repo@skill')
  if (!/^https?$/i.test(scheme)) throw refuseUrl('must begin with https:// or http://')
  if (authority.includes('@')) throw refuseUrl('must not contain a username or password')
  if (authority.includes('%')) throw refuseUrl('must not contain percent-encoding in its host')
  if (!URL.canParse(text)) throw refuseUrl('is not a valid URL')
  const segments = readSegments(path)
  return { url: new URL(text), segments, hash: decode(hash) }
}

/** The decoded segments of a path. Throws for `..`, encoded slashes and double encoding. */
export function readSegments(path: string): string[] {
  const written = path.replace(/^\//, '').replace(/\/$/, '')
  if (written === '') return []
  const segments = written.split('/').map(decode)
  if (segments.length > segmentsMax) throw refuseUrl(`must have at most ${segmentsMax} segments`)
  if (segments.some(isBad))
    throw refuseUrl('must not contain empty segments, `.`, `..`, or encoded slashes and special characters')
  return segments
}

function isBad(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..' || /[\p{C}/\\%]|[^\S ]/u.test(segment)
}

/** The error for a refused URL; the message continues after `url`. */
export function refuseUrl(message: string): RegistryError {
  return new RegistryError('invalid_request', `url ${message}.`, { errors: [{ path: 'url', message }] })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuseUrl('contains an invalid percent-encoding')
  }
}
