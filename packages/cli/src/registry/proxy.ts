import nodeHttp from 'node:http'
import { UsageError } from '../command/command.ts'
import { type Environment, readVariable } from '../terminal/io.ts'

/** Whether this release of Node can take the proxy of the environment after its start (24.14, 25.4). */
export const canUseProxy = typeof nodeHttp.setGlobalProxyFromEnv === 'function'

/** A variable of the environment, and its value. */
interface Variable {
  readonly name: string
  readonly value: string
}

/**
 * The variables that name proxies, in upper or lower case. As for curl, a value without a scheme is the host of an HTTP
 * proxy.
 */
export function readProxies(env: Environment): { http?: Variable; https?: Variable; noProxy?: Variable } {
  const [http, https] = ['http_proxy', 'https_proxy'].map((name) => {
    const found = readEitherCase(env, name)
    return found && { ...found, value: found.value.includes('://') ? found.value : `http://${found.value}` }
  })
  const noProxy = readEitherCase(env, 'no_proxy')
  return { ...(http && { http }), ...(https && { https }), ...(noProxy && { noProxy }) }
}

function readEitherCase(env: Environment, lower: string): Variable | undefined {
  const name = [lower, lower.toUpperCase()].find((each) => readVariable(env, each) !== undefined)
  return name === undefined ? undefined : { name, value: readVariable(env, name)! }
}

/** The variable that names the proxy for requests of a protocol, `http:` or `https:`. */
export function findProxyVariable(env: Environment, protocol: string): string | undefined {
  const { http, https } = readProxies(env)
  return (protocol === 'https:' ? (https ?? http) : http)?.name
}

/**
 * Sends the requests of commands through the proxies of HTTP_PROXY and HTTPS_PROXY, but for the hosts of NO_PROXY. A node
 * gets the same proxies as an option of its registry. Throws {@link UsageError} if Node cannot parse a variable.
 */
export function useProxyOfEnvironment(): void {
  const { http, https, noProxy } = readProxies(process.env)
  if (!canUseProxy || !(http ?? https)) return
  try {
    nodeHttp.setGlobalProxyFromEnv({
      ...(http && { http_proxy: http.value }),
      ...(https && { https_proxy: https.value }),
      ...(noProxy && { no_proxy: noProxy.value }),
    })
  } catch {
    const names = [http, https].flatMap((one) => one?.name ?? [])
    throw new UsageError(`${names.join(' or ')} is not the URL of a proxy. Use the form http://HOST:PORT.`)
  }
}
