import { limits, parseForeignJson, RegistryError, isRecord } from '@skillstead/protocol'
import type { GatewayCall, GatewayHost } from './gateway.ts'

/** The fields of a request body by name; their values may have any type. */
export type Fields = Readonly<Record<string, unknown>>

/** The fields of a JSON body; empty if the request has no body. Throws `invalid_request` and `payload_too_large`. */
export async function readBodyFields(host: GatewayHost, call: GatewayCall): Promise<Fields> {
  const bytes = await host.readBody(call, limits.bodyBytesDefault)
  const value = bytes.byteLength === 0 ? {} : parseBody(bytes)
  if (isRecord(value)) return value
  throw new RegistryError('invalid_request', 'The body must be a JSON object.')
}

function parseBody(bytes: Uint8Array): unknown {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { valuesMax: 100_000 })
  } catch (cause) {
    throw new RegistryError('invalid_request', 'The body is not JSON.', { cause })
  }
}

/** A trimmed text field of a body; undefined if missing or empty. Throws `invalid_request` if it is not a text. */
export function readTextField(fields: Fields, name: string): string | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value.trim() || undefined
  throw new RegistryError('invalid_request', `${name} must be a text.`)
}

/** A required text field of a body. Throws `invalid_request` if it is missing, empty or not a text. */
export function requireText(fields: Fields, name: string): string {
  const text = readTextField(fields, name)
  if (text !== undefined) return text
  throw new RegistryError('invalid_request', `${name} is missing.`)
}
