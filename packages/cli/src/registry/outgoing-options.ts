import { attempt } from '@skillstead/protocol'
import { X509Certificate } from 'node:crypto'
import type { OutgoingOptions } from '@skillstead/core'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'
import { readOptionFile } from '../command/values.ts'
import { readProxies } from './proxy.ts'

/** Options for outgoing requests of a node. */
export const outgoingOptions: Options = {
  'allow-networks': { value: 'CIDR,...', help: 'private networks that outgoing requests may reach' },
  ca: { value: 'FILE', help: "certificates (PEM) to trust in addition to the system's" },
}

/** The options in the form that the registry takes. Throws {@link UsageError} for invalid values. */
export async function toOutgoing(given: Arguments): Promise<OutgoingOptions> {
  return {
    allowNetworks: await toNetworks(textOption(given, 'allow-networks')),
    ca: toCertificates(textOption(given, 'ca')),
    proxy: await toProxies(given),
  }
}

async function toNetworks(list: string | undefined): Promise<string[]> {
  if (list === undefined) return []
  const { isNetwork } = await import('@skillstead/core/internal')
  const networks = list.split(',').map((network) => network.trim())
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a network. Use the form 10.0.0.0/8.`)
  return networks
}

/**
 * The proxies of the environment. Throws {@link UsageError} for a value that is no proxy; the message omits the value.
 */
async function toProxies({ io }: Arguments): Promise<OutgoingOptions['proxy']> {
  const { isProxyUrl } = await import('@skillstead/core/internal')
  const { http, https, noProxy } = readProxies(io.env)
  const wrong = [http, https].find((one) => one && !isProxyUrl(one.value))
  if (wrong) throw new UsageError(`${wrong.name} is not the URL of a proxy. Use the form http://HOST:PORT.`)
  return { httpProxy: http?.value, httpsProxy: https?.value, noProxy: noProxy?.value }
}

function toCertificates(file: string | undefined): string[] {
  if (file === undefined) return []
  const found = readOptionFile(file).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0 || !found.every((pem) => attempt(() => new X509Certificate(pem))))
    throw new UsageError(`'${file}' contains no certificates in PEM form.`)
  return found
}
