import { checkJsonShape, type CallInFlight } from '@skillstead/core/internal'
import { RegistryError, limits, type FieldError, attempt, isRecord } from '@skillstead/protocol'
import { readRequestBody } from './body.ts'
import type { Call } from '../context/call.ts'
import type { Route } from './routes.ts'

/** The body of a request, and its media type without parameters. */
export interface Payload {
  readonly bytes: Uint8Array
  readonly contentType: string
}

type Fields = Record<string, unknown>

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** The archive types of the schema, by media type. */
const archiveTypes: Record<string, string> = {
  'application/zip': 'application/zip',
  'application/x-zip-compressed': 'application/zip',
  'application/gzip': 'application/gzip',
  'application/x-gzip': 'application/gzip',
}

/** Reads the body of a request. Throws `payload_too_large`, `overloaded` and `unsupported_media_type`. */
export async function readPayload(call: Call, route: Route, { hold }: CallInFlight): Promise<Payload> {
  const contentType = mediaTypeOf(call.header('content-type'))
  const coding = call.header('content-encoding')?.toLowerCase() || 'identity'
  // Refuse compressed bodies, which can be decompression bombs. Archives are compressed too, but have limits of their
  // own.
  if (coding !== 'identity') {
    throw new RegistryError('unsupported_media_type', 'Send the body without a `Content-Encoding`.')
  }
  const archive = takesArchive(route, contentType)
  const bytes = await readRequestBody(
    call.request,
    archive ? limits.archiveBytesMax : (route.endpoint.bodyBytesMax ?? limits.bodyBytesDefault),
    hold,
  )
  if (bytes.byteLength > 0 && !archive && contentType !== 'application/json') {
    const accepted = ['application/json', ...(route.endpoint.uploads ?? [])].join(', ')
    throw new RegistryError('unsupported_media_type', `Send the body as one of: ${accepted}. Text must be UTF-8.`)
  }
  return { bytes, contentType }
}

/**
 * Builds the flat input object of an operation from path parameters, query parameters and body fields.
 * Throws `invalid_request` for errors that no schema can detect: invalid escapes, repeated parameters, invalid JSON,
 * and a field in both query and body.
 */
export function toInput(call: Call, route: Route, payload: Payload | undefined): Fields {
  // A plain object is safe here: only known names are added, and the code below rejects `__proto__`.
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

/** The media type without its parameters; `unknown` for a charset other than UTF-8, so that the body is refused. */
function mediaTypeOf(header: string | null): string {
  const [type = '', ...parameters] = (header ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => /^\s*charset="?([^"\s]*)"?\s*$/.exec(parameter)?.[1]).find(Boolean)
  return charset && charset !== 'utf-8' && charset !== 'utf8' ? 'unknown' : type.trim()
}

function takesArchive(route: Route, contentType: string): boolean {
  const type = Object.hasOwn(archiveTypes, contentType) ? archiveTypes[contentType]! : ''
  return route.endpoint.uploads?.includes(type) ?? false
}

/** Decodes a segment of the path once: `%2F` becomes a slash, and `%252F` becomes the three characters `%2F`. */
function decodeSegment(segment: string, name: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalidInput([{ path: name, message: 'contains an invalid percent-escape' }])
  }
}

/** Adds the query parameters to the input. Unknown parameters are ignored; a known parameter must not be repeated. */
function addQuery(input: Fields, search: string, names: ReadonlySet<string>): void {
  const repeated = new Set<string>()
  for (const [name, value] of new URLSearchParams(search)) {
    if (!names.has(name)) continue
    if (Object.hasOwn(input, name)) repeated.add(name)
    input[name] = value
  }
  if (repeated.size > 0)
    throw invalidInput([...repeated].map((path) => ({ path, message: 'was given more than once' })))
}

function parseObject(bytes: Uint8Array): Fields {
  checkJsonShape(bytes)
  const value = attempt<unknown>(() => JSON.parse(utf8.decode(bytes)))
  if (value === undefined) throw new RegistryError('invalid_request', 'The body is not JSON in UTF-8.')
  if (!isRecord(value)) throw new RegistryError('invalid_request', 'The body must be a JSON object.')
  // Reporting an error per field costs more than sending the field, so a flood of fields gets one error.
  if (Object.keys(value).length > limits.bodyFieldsMax) {
    throw new RegistryError('invalid_request', `The body has more than ${limits.bodyFieldsMax} fields.`)
  }
  return value
}

/** Adds the body's fields to the input. Refuses fields of the path, which names the resource, and archive fields. */
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
  if (errors.length > 0) throw invalidInput(errors)
}

function invalidInput(errors: readonly FieldError[]): RegistryError {
  const detail = errors.map(({ path, message }) => `\`${path}\` ${message}`).join('; ')
  return new RegistryError('invalid_request', `${detail}.`, { errors })
}
