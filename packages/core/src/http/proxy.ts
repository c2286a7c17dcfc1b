import { toErrorText } from '@skillstead/protocol'
import { isIP } from 'node:net'

/** Proxies for HTTP requests, in the form of the environment variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY. */
export interface ProxySettings {
  /** URL of the proxy for http. Default: none. */
  readonly httpProxy?: string | undefined
  /** URL of the proxy for https. Default: `httpProxy`. */
  readonly httpsProxy?: string | undefined
  /** Hosts that are reached without a proxy, separated by commas; `*` for all. */
  readonly noProxy?: string | undefined
}

/** Whether a text is the URL of a proxy. False for SOCKS, whose connections the address check would miss. */
export function isProxyUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== ''
}

/**
 * Replaces undefined settings by '', because undici would read the environment for them; returns undefined if no proxy
 * is set. Throws a TypeError for a text that is not the URL of a proxy. The error omits the text, which can contain a
 * password.
 */
export function requireProxies(settings: ProxySettings = {}): Required<ProxySettings> | undefined {
  const { httpProxy = '', httpsProxy = '', noProxy = '' } = settings
  const given = [httpProxy, httpsProxy].filter(Boolean)
  if (!given.every(isProxyUrl)) throw new TypeError('The URL of a proxy must have the form http://HOST:PORT.')
  return given.length > 0 ? { httpProxy, httpsProxy, noProxy } : undefined
}

/** The host and port of a tunnel, as undici's agent takes them. */
export function toTunnelHost(address: string, port: string | number, protocol: string) {
  const name = isIP(address) === 6 ? `[${address}]` : address
  const known = String(port || (protocol === 'https:' ? 443 : 80))
  return { host: `${name}:${known}`, hostname: address, port: known }
}

/**
 * Wraps undici's error for a failed proxy in an error with its own code. Undici's error has no code, or a code that can
 * also mean a failure of the requested host.
 */
export function toProxyError(error: unknown): unknown {
  const [, status] = /^Proxy response \((\d+)\)/.exec(toErrorText(error)) ?? []
  return Object.assign(new Error('The proxy opened no connection.'), {
    code: `PROXY_${status ?? 'LOST'}`,
    cause: error,
  })
}
