import { RegistryError, limits, type FieldError } from '@skillstead/protocol'
import { readBody } from './body.ts'
import type { Call } from './call.ts'
import type { CallInFlight } from './in-flight.ts'
import { checkJsonShape } from './json-shape.ts'
import type { Route } from './routes.ts'

/** What a request carries besides its path: the bytes of its body, and their media type without parameters. */
export interface Payload {
  readonly bytes: Uint8Array
  readonly contentType: string
}

type Fields = Record<string, unknown>

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Media types by the names that clients give them, as the archive's schema calls them. */
const archiveTypes: Record<string, string> = {
  'application/zip': 'application/zip',
  'application/x-zip-compressed': 'application/zip',
  'application/gzip': 'application/gzip',
  'application/x-gzip': 'application/gzip',
}

/** Reads the body where the method has one. Throws `payload_too_large`, `overloaded` and `unsupported_media_type`. */
export async function readPayload(call: Call, route: Route, { hold }: CallInFlight): Promise<Payload> {
  const contentType = mediaTypeOf(call.header('content-type'))
  const coding = call.header('content-encoding')?.toLowerCase() || 'identity'
  // What unpacks to a thousand times its size is not unpacked; archives have bounds of their own.
  if (coding !== 'identity') {
    throw new RegistryError('unsupported_media_type', 'Send the body as it is, without a `Content-Encoding`.')
  }
  const archive = takesArchive(route, contentType)
  const bytes = await readBody(call.request, archive ? limits.archiveBytesMax : bodyBytesMaxOf(route), hold)
  if (bytes.byteLength > 0 && !archive && contentType !== 'application/json') {
    const accepted = ['application/json', ...(route.endpoint.uploads ?? [])].join(', ')
    throw new RegistryError(
      'unsupported_media_type',
      `Send the body as one of: ${accepted}; in UTF-8 where it is text.`,
    )
  }
  return { bytes, contentType }
}

/**
 * The one flat object that an operation takes: path parameters, query parameters and the fields of the body.
 * Throws `invalid_request` for what no schema could see: bad escapes, repetitions, broken JSON, a field given twice.
 */
export function toInput(call: Call, route: Route, payload: Payload | undefined): Fields {
  // A plain object is safe: only names that the table knows get in, and `__proto__` is refused below.
  const input: Fields = {}
  for (const name of route.pathNames) input[name] = decodeSegment(call.params?.[name] ?? '', name)
  const hasBody = payload !== undefined && payload.bytes.byteLength > 0
  const isArchive = hasBody && takesArchive(route, payload.contentType)
  const search = call.url?.search
  if (search) addQuery(input, search, isArchive ? route.queryNames : route.plainQueryNames)
  if (isArchive) input.archive = { contentType: archiveTypes[payload.contentType], body: payload.bytes }
  else if (hasBody) addBody(input, parseObject(payload.bytes), route)
  return input
}

function bodyBytesMaxOf({ endpoint }: Route): number {
  return endpoint.bodyBytesMax ?? limits.bodyBytesDefault
}

/** The type without its parameters; `text/json; charset=latin1` and the like come out as what nobody takes. */
function mediaTypeOf(header: string | null): string {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(parameter)?.[1]).find(Boolean)
  return charset && charset !== 'utf-8' && charset !== 'utf8' ? 'unknown' : type.trim()
}

function takesArchive(route: Route, contentType: string): boolean {
  const type = Object.hasOwn(archiveTypes, contentType) ? archiveTypes[contentType]! : ''
  return route.endpoint.uploads?.includes(type) ?? false
}

/** Decoded once: `%2F` is a slash inside a segment, `%252F` the three characters `%2F`. */
function decodeSegment(segment: string, name: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid([{ path: name, message: 'holds a malformed percent-escape' }])
  }
}

/** Parameters of other names are ignored; one of these must not come twice. */
function addQuery(input: Fields, search: string, names: ReadonlySet<string>): void {
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!names.has(name)) continue
    if (Object.hasOwn(input, name)) repeated.add(name)
    input[name] = value
  }
  if (repeated.size > 0) throw invalid([...repeated].map((path) => ({ path, message: 'was given more than once' })))
}

function parseObject(bytes: Uint8Array): Fields {
  checkJsonShape(bytes)
  let value: unknown
  try {
    value = JSON.parse(utf8.decode(bytes))
  } catch {
    throw new RegistryError('invalid_request', 'The body is not JSON in UTF-8.')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new RegistryError('invalid_request', 'The body must be a JSON object.')
  }
  // Each field costs more to refuse than to send, so a flood of them is refused as one.
  if (Object.keys(value).length > limits.bodyFieldsMax) {
    throw new RegistryError('invalid_request', `The body has more than ${limits.bodyFieldsMax} fields.`)
  }
  return value as Fields
}

/** The path names the thing; a body that could name another one, or bring an archive of its own, is refused. */
function addBody(input: Fields, body: Fields, route: Route): void {
  const errors: FieldError[] = []
  for (const [name, value] of Object.entries(body)) {
    if (name === 'archive' || name === '__proto__' || route.pathNames.includes(name)) {
      errors.push({ path: name, message: 'is not a known field' })
    } else if (Object.hasOwn(input, name)) {
      errors.push({ path: name, message: 'was given in the query and in the body' })
    } else {
      input[name] = value
    }
  }
  if (errors.length > 0) throw invalid(errors)
}

function invalid(errors: readonly FieldError[]): RegistryError {
  const detail = errors.map(({ path, message }) => `\`${path}\` ${message}`).join('; ')
  return new RegistryError('invalid_request', `${detail}.`, { errors })
}
