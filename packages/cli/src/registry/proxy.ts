import http from 'node:http'
import type { Environment } from '../terminal/io.ts'

/** Whether this release of Node can take the proxy of the environment after its start (24.14, 25.4). */
export const canUseProxy = typeof http.setGlobalProxyFromEnv === 'function'

/** The variable that names a proxy for requests of commands. */
export function findProxyVariable(env: Environment): string | undefined {
  return ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((name) => env[name])
}

/**
 * Sends the requests of commands through the proxy of HTTP_PROXY and HTTPS_PROXY, but for the hosts of NO_PROXY. What a
 * node sends, webhooks and mirrors, takes no proxy.
 */
export function useProxyOfEnvironment(): void {
  if (canUseProxy && findProxyVariable(process.env) !== undefined) http.setGlobalProxyFromEnv()
}
