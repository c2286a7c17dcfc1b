import { RegistryError, toErrorText, readErrorCode } from '@skillstead/protocol'

/**
 * Patterns of error codes, each with the reason that the error message shows; the first match counts. Reasons reveal no
 * internals of the failure. The third column is advice for operators, about a server that they configured.
 */
const reasons: readonly (readonly [RegExp, string, string?])[] = [
  [
    /^PROXY_(407)$/,
    'the proxy asks for a user name and a password',
    'Write them into its URL: http://USER:PASSWORD@HOST:PORT.',
  ],
  [/^PROXY_(\d+)$/, 'the proxy refused the connection with status $1', 'Allow the host in the proxy.'],
  [/^PROXY_LOST$/, 'the proxy could not be reached', 'Check HTTPS_PROXY and HTTP_PROXY.'],
  [/^(ENOTFOUND|ENODATA|EAI_NONAME)$/, 'the host name does not exist'],
  [/^(EAI_AGAIN|EAI_FAIL|ETIMEOUT|ESERVFAIL|EREFUSED|EBADRESP)$/, 'the name servers did not resolve the host name'],
  [/^ERR_TLS_CERT_ALTNAME/, 'the certificate is for another host name'],
  [/^CERT_HAS_EXPIRED$/, 'the certificate has expired'],
  [/^CERT_NOT_YET_VALID$/, 'the certificate is not valid yet'],
  [/CERT|SELF_SIGNED|UNABLE_TO/, 'the certificate is not trusted', 'Trust its CA with --ca FILE.'],
  [/^ERR_(SSL|TLS)|^EPROTO$/, 'the TLS handshake failed'],
  [/^ECONNREFUSED$/, 'the host refused the connection', 'Check that the server is running.'],
  [
    /^(ECONNRESET|ECONNABORTED|EPIPE|UND_ERR_SOCKET)$/,
    'the host closed the connection before the response was complete',
  ],
  [/^(HTTPParserError|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'the response is not valid HTTP'],
  [/^UND_ERR_HEADERS_OVERFLOW$/, 'the response headers are too long'],
  [/TIMEOUT|^ETIMEDOUT$/, 'the host did not respond'],
  [/^(Z_|ERR__)/, 'the response could not be decompressed'],
  [/(?:)/, 'the host could not be reached'],
]
/** Messages of undici for a response that violates HTTP. Such an error has the same code as a closed connection. */
const breaches = new Set(['bad response', 'bad upgrade'])

/** The subject of an error: the request to a URL, or an action in words, such as `The DNS lookup of example.com`. */
export type RequestSubject = URL | string

/** Names a request by the URL's origin, because the path can contain a secret. */
export function toRequestName(subject: RequestSubject): string {
  return typeof subject === 'string' ? subject : `The request to ${subject.origin}`
}

/** Creates an `upstream_failed`. Callers retry only errors with a `cause`. */
export function toFailure(subject: RequestSubject, reason: string, advice = '', cause?: unknown): RegistryError {
  return new RegistryError('upstream_failed', `${toRequestName(subject)} failed: ${reason}. ${advice}`.trimEnd(), {
    cause,
  })
}

/** Converts an error to an `upstream_failed` without revealing internals. */
export function toUpstreamFailed(subject: RequestSubject, error: unknown, isOperator: boolean): RegistryError {
  const code = isBreach(error) ? 'HTTPParserError' : toFailureCode(error)
  const [pattern, reason, advice] = reasons.find(([each]) => each.test(code))!
  return toFailure(subject, reason.replace('$1', pattern.exec(code)![1]!), isOperator ? advice : '', error)
}

/** Whether a name server answered that the name does not exist. */
export function isUnknownName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA', 'EAI_NONAME'].includes(toFailureCode(error))
}

/** Whether the server closed the connection instead of responding. */
export function isClosed(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(toFailureCode(error)) && !isBreach(error)
}

function isBreach(error: unknown): boolean {
  return toFailureCode(error) === 'UND_ERR_SOCKET' && breaches.has(toErrorText(error))
}

function toFailureCode(error: unknown): string {
  const { name, code, syscall, cause, message } = error as NodeJS.ErrnoException
  if (message.startsWith('Proxy Authentication Required')) return 'PROXY_407'
  // The name server refused the connection, not the requested host.
  if (code === 'ECONNREFUSED' && String(syscall).startsWith('query')) return 'EREFUSED'
  // `fetch` wraps the error, so its code is in `cause`. Errors of undici's parser have no code, so their name is used.
  return String(code ?? readErrorCode(cause) ?? name)
}
