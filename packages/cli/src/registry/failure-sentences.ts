import { readErrorCode, isRegistryError } from '@skillstead/protocol'
import { canUseProxy, findProxyVariable } from './proxy.ts'
import type { Environment } from '../terminal/io.ts'

const moreRoom = 'The disk is full. Free some space and run this again; nothing was partly written.'
const notAllowed = 'The registry cannot be written. Run this as the user who owns it, on a disk that is not read-only.'
const another = 'Another process has locked the registry. Try again shortly.'

/** Messages for disk and database errors, by the error code of the system. */
const sentences: Readonly<Record<string, string>> = {
  SQLITE_FULL: moreRoom,
  ENOSPC: moreRoom,
  EDQUOT: moreRoom,
  SQLITE_READONLY: notAllowed,
  EROFS: notAllowed,
  SQLITE_CANTOPEN: 'The registry cannot be opened. Pass a folder with --data DIR that this user can read and write.',
  SQLITE_NOTADB: 'skillstead.db in this folder is not a registry, or is damaged. Restore it from a backup.',
  SQLITE_CORRUPT: 'skillstead.db in this folder is damaged. Restore it from a backup.',
  SQLITE_IOERR: 'The disk is full or failing. Check it and run this again; nothing was partly written.',
  SQLITE_BUSY: another,
  SQLITE_LOCKED: another,
}

/**
 * A message with advice for a disk or database error, also if it is the cause of another error; undefined for other
 * errors.
 */
export function findStorageSentence(error: unknown): string | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    const [code = ''] = /^(?:SQLITE_[A-Z]+|E[A-Z]+)/.exec(String(readErrorCode(one))) ?? []
    if (Object.hasOwn(sentences, code)) return sentences[code]
  }
  return undefined
}

const untrusted = 'Its certificate is not trusted: use the name that the certificate has, or ask the operator.'
const signIn = 'The proxy asks for a user name and a password: write them into its URL, http://USER:PASSWORD@HOST:PORT.'
const plain = 'It does not speak TLS: use http:// instead of https://.'

/** Advice for failed connections, by Node's error code. */
const advice: readonly (readonly [RegExp, string])[] = [
  [/^PROXY_407$/, signIn],
  [/^PROXY_/, 'The proxy refused the connection: allow the host in the proxy, or name it in NO_PROXY.'],
  [/^ECONNREFUSED$/, 'It refused the connection: start the node, or check the port.'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, 'Its name is unknown: check the address and your network.'],
  [/^(?:ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/, 'It cannot be reached: check your network.'],
  [/^(?:EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|UNKNOWN_PROTOCOL|HTTP_REQUEST))$/, plain],
  [/CERT|^UNABLE_TO_|^HOSTNAME_MISMATCH$/, untrusted],
  [/^(?:ECONNRESET|UND_ERR_SOCKET)$/, 'It closed the connection: if it serves HTTPS, use https:// in the address.'],
]

/** The failure of a connection to a node, with advice and the proxy of the environment; undefined for other errors. */
export function findNetworkSentence(error: unknown, env: Environment): string | undefined {
  if (!isRegistryError(error, 'upstream_failed')) return undefined
  for (const code of listCodes(error.cause)) {
    const [, sentence] = advice.find(([codes]) => codes.test(code)) ?? []
    if (sentence !== undefined) return `${error.message} ${sentence}${toProxyAdvice(env, error.message)}`
  }
  return undefined
}

function toProxyAdvice(env: Environment, message: string): string {
  const name = findProxyVariable(env, message.includes('http://') ? 'http:' : 'https:')
  if (name === undefined) return ''
  const howTo = canUseProxy ? '' : ': this release of Node uses it only with NODE_USE_ENV_PROXY=1'
  return ` ${name} names a proxy${howTo}.`
}

/** The codes of an error and its causes; a failed connection to a host has one code per address of the host. */
function listCodes(error: unknown): string[] {
  if (!(error instanceof Error)) return []
  const code = readProxyCode(error) ?? readErrorCode(error)
  const below = error instanceof AggregateError ? error.errors : [error.cause]
  return [...(typeof code === 'string' ? [code] : []), ...below.flatMap(listCodes)]
}

/** The status with which a proxy refused a request: the error of `fetch` has it only in its message. */
function readProxyCode({ message }: Error): string | undefined {
  const [, status] = /^Proxy (?:response|Authentication Required) \((\d+)\)/.exec(message) ?? []
  return status && `PROXY_${status}`
}
