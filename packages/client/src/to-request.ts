import { RegistryError, type WireEndpoint } from '@skillstead/protocol/wire'

/** The request of a call, relative to the base URL. */
export interface WireRequest {
  readonly path: string
  readonly body?: BodyInit
  readonly contentType?: string
}

interface Archive {
  readonly contentType: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** Converts an input to a request. Throws `not_found` for a name that a URL cannot contain. */
export function toRequest(endpoint: WireEndpoint, input: Readonly<Record<string, unknown>>): WireRequest {
  const { path, rest } = fillPath(endpoint.path, input)
  if (endpoint.method === 'GET') return { path: path + toQueryString(rest) }
  const { archive, ...fields } = rest as { archive?: Archive }
  if (endpoint.takesUploads && archive) {
    return { path: path + toQueryString(fields), body: archive.body, contentType: archive.contentType }
  }
  if (Object.keys(rest).length === 0 && endpoint.method !== 'POST') return { path }
  return { path, body: JSON.stringify(rest), contentType: 'application/json' }
}

/** Fills in the path parameters. A slash inside a name is encoded; inside a file path it separates segments. */
function fillPath(pattern: string, input: Readonly<Record<string, unknown>>) {
  const rest = { ...input }
  const path = pattern.replace(/(\*\*)?:(\w+)/g, (_, deep: string | undefined, key: string) => {
    const value = String(rest[key] ?? '')
    delete rest[key]
    const segments = deep ? value.split('/') : [value]
    refuseUnsendable(segments)
    return segments.map(encodeURIComponent).join('/')
  })
  return { path, rest }
}

/**
 * Throws `not_found` for segments that a URL cannot contain: URL parsers resolve dot segments, even encoded ones, and
 * would request another resource; a lone surrogate cannot be encoded in UTF-8.
 */
function refuseUnsendable(segments: readonly string[]): void {
  if (segments.some((segment) => segment === '' || segment === '.' || segment === '..' || !segment.isWellFormed())) {
    throw new RegistryError('not_found', `The name '${segments.join('/')}' does not exist.`)
  }
}

function toQueryString(fields: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${new URLSearchParams(given.map(([key, value]) => [key, Array.isArray(value) ? value.join(',') : String(value)]))}`
}
