import { isIP, isIPv6 } from 'node:net'
import type { Options } from '../command/command.ts'

/** The address that a node listens on. */
export const listenOptions: Options = {
  port: {
    value: 'PORT',
    help: 'the port to listen on; 0 picks a free port. Default: 7545 (or PORT)',
    hostEnv: { name: 'PORT', isMeant: () => true },
  },
  host: {
    value: 'HOST',
    help: 'the address to listen on. Default: 127.0.0.1 (or HOST, if it is an IP address)',
    // Some shells set HOST to the name of the machine, which would open the node to the network.
    hostEnv: { name: 'HOST', isMeant: (value) => isIP(value) !== 0 },
  },
}

/** The options, with the variable SKILLSTEAD_NAME for each option that has no variable of its own. */
export function withVariables(options: Options): Options {
  return Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { env: toEnv(name), ...option }]))
}

const toEnv = (option: string): string => `SKILLSTEAD_${option.toUpperCase().replaceAll('-', '_')}`

/**
 * The host under which this machine reaches a node, in the form of a URL: no client can connect to a wildcard address.
 */
export function toReachableHost(host = '127.0.0.1'): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (!isIPv6(host)) return host
  return /^[0:]+$/.test(host) ? '[::1]' : `[${host}]`
}
