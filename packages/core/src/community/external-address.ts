import { RegistryError } from '@skillstead/protocol'

/** An http(s) address that hides nothing. */
export interface Address {
  readonly url: URL
  /** Of the path, decoded, as they were written: a URL's own parser resolves `..` without a word. */
  readonly segments: readonly string[]
  /** Decoded, without the `#`. */
  readonly hash: string
}

const segmentsMax = 32

/** Reads an http(s) address. Throws `invalid_request` that names `url` for anything else, and for what tricks readers. */
export function readAddress(text: string): Address {
  // A URL's own parser drops line breaks and turns back-slashes round without a word.
  if (/[\s\p{C}\\]/u.test(text)) throw refuseUrl('must not hold spaces, back-slashes or control characters')
  const [, scheme, authority, path = '', hash = ''] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/is.exec(text) ?? []
  if (scheme === undefined || authority === undefined)
    throw refuseUrl('must be an address that begins with https://, or a source such as owner/repo@skill')
  if (!/^https?$/i.test(scheme)) throw refuseUrl('must begin with https:// or http://')
  if (authority.includes('@')) throw refuseUrl('must not hold a user name or a password')
  if (authority.includes('%')) throw refuseUrl('must name its host in plain letters')
  if (!URL.canParse(text)) throw refuseUrl('cannot be read as an address')
  const segments = readSegments(path)
  return { url: new URL(text), segments, hash: decode(hash) }
}

/** The decoded parts of a path. Throws for `..`, for slashes that are encoded, and for what is encoded twice. */
export function readSegments(path: string): string[] {
  const written = path.replace(/^\//, '').replace(/\/$/, '')
  if (written === '') return []
  const segments = written.split('/').map(decode)
  if (segments.length > segmentsMax) throw refuseUrl(`must have at most ${segmentsMax} parts`)
  if (segments.some(isBad))
    throw refuseUrl('must not hold empty parts, `.`, `..`, or slashes and signs that are encoded')
  return segments
}

function isBad(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..' || /[\p{C}/\\%]|[^\S ]/u.test(segment)
}

/** The refusal of an address, in words that follow `url`. */
export function refuseUrl(message: string): RegistryError {
  return new RegistryError('invalid_request', `url ${message}.`, { errors: [{ path: 'url', message }] })
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw refuseUrl('holds a percent sign that encodes nothing')
  }
}
