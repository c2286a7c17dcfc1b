import { RegistryError } from '@skillstead/protocol'

const untrusted = 'Its certificate is not trusted: use the name that the certificate has, or ask the operator.'
const plain = 'It does not speak TLS: use http:// instead of https://.'

/** Advice for failed connections, by Node's error code. */
const advice: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'It refused the connection: start the node, or check the port.'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'Its name is unknown: check the address and your network.'],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/, 'It cannot be reached: check your network.'],
  [/^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|HTTP_REQUEST))$/, plain],
  [/CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, untrusted],
  [/^(?:ECONNRESET|UND_ERR_SOCKET)$/, 'It closed the connection: if it serves HTTPS, use https:// in the address.'],
]

/** The failure of a connection to a node, with advice; undefined for other errors. */
export function findNetworkSentence(error: unknown): string | undefined {
  if (!(error instanceof RegistryError) || error.code !== 'upstream_failed') return undefined
  for (const code of listCodes(error.cause)) {
    const [, sentence] = advice.find(([codes]) => codes.test(code)) ?? []
    if (sentence !== undefined) return `${error.message} ${sentence}`
  }
  return undefined
}

/** The codes of an error and its causes; a host with several addresses has one per address. */
function listCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const { code } = error as NodeJS.ErrnoException
  const below = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(typeof code === 'string' ? [code] : []), ...below.flatMap(listCodes)]
}
