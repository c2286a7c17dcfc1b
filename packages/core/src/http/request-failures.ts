import { RegistryError } from '@skillstead/protocol'

/**
 * What an error code means for the requested host; the first match counts. Messages reveal no internals of the failure.
 */
const meanings: readonly (readonly [RegExp, string])[] = [
  [/^(ENOTFOUND|ENODATA|EAI_NONAME)$/, 'is not known to the name servers'],
  [/^(EAI_AGAIN|EAI_FAIL|ETIMEOUT|ESERVFAIL|EREFUSED|EBADRESP)$/, 'cannot be found: the name servers fail to answer'],
  [/^ERR_TLS_CERT_ALTNAME/, 'shows a certificate of another name'],
  [/^CERT_HAS_EXPIRED$/, 'shows a certificate that has expired'],
  [/^CERT_NOT_YET_VALID$/, 'shows a certificate that is not valid yet'],
  [/CERT|SELF_SIGNED|UNABLE_TO/, 'shows a certificate that is not trusted'],
  [/^ERR_(SSL|TLS)|^EPROTO$/, 'does not answer with TLS that is understood'],
  [/^ECONNREFUSED$/, 'cannot be reached: it refuses the connection'],
  [/^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/, 'cannot be reached: it closes the connection without an answer'],
  [/^(HTTPParserError|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'answers with something that is not HTTP'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'answers with headers that are too long'],
  [/(?:)/, 'cannot be reached'],
]
/** Messages of undici for a response that violates HTTP. Their code is that of a closed connection. */
const breaches = new Set(['bad response', 'bad upgrade'])

/** Creates an `upstream_failed` about the requested host. */
export function fail(what: string, cause?: unknown): RegistryError {
  return new RegistryError('upstream_failed', `The host of that address ${what}.`, { cause })
}

/** Converts an error to an `upstream_failed` without revealing internals. */
export function toUpstreamFailed(error: unknown): RegistryError {
  const code = isBreach(error) ? 'HTTPParserError' : codeOf(error)
  return fail(meanings.find(([pattern]) => pattern.test(code))![1], error)
}

export function isUnknownName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA', 'EAI_NONAME'].includes(codeOf(error))
}

/** Whether the server closed the connection instead of responding. */
export function isClosed(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error)) && !isBreach(error)
}

function isBreach(error: unknown): boolean {
  return codeOf(error) === 'UND_ERR_SOCKET' && breaches.has((error as Error).message)
}

function codeOf(error: unknown): string {
  const { name, code, syscall } = error as Partial<Record<'name' | 'code' | 'syscall', unknown>>
  // The name server refused the connection, not the host.
  if (code === 'ECONNREFUSED' && String(syscall).startsWith('query')) return 'EREFUSED'
  // Errors of undici's parser have no code.
  return String(code ?? name)
}
