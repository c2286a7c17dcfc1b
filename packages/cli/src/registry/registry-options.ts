import { X509Certificate } from 'node:crypto'
import { type OutgoingOptions, type PolicyAction, policyActions, type ScanPolicy } from '@skillstead/core'
import { isNoteName } from '@skillstead/core/internal'
import { UsageError, readOptionFile, text, type Arguments, type Options } from '../command/command.ts'
import { toOneLine } from '../terminal/output.ts'

/** The name of a node in its log, for every command that can write the first log entry. */
export const originOption: Options = {
  origin: {
    value: 'NAME',
    help: 'the name of the log and its key, such as skills.example.com; it cannot change after the first entry',
  },
}

/** Throws {@link UsageError} for an invalid log name. */
export function toOrigin(given: Arguments): string | undefined {
  const origin = text(given, 'origin')
  if (origin === undefined || isNoteName(origin)) return origin
  throw new UsageError(`'${toOneLine(origin)}' is not a valid origin. Use up to 255 characters without spaces and +.`)
}

/** The policy for flagged versions. */
export const scanPolicyOption: Options = {
  'scan-policy': {
    value: 'POLICY',
    help: 'what to do with flagged versions: warn, quarantine or refuse, such as dangerous=quarantine. Default: warn',
  },
}

/** The scan policy of the options. Throws {@link UsageError} for an invalid policy. */
export function toScanPolicy(given: Arguments): ScanPolicy {
  const policy: Record<string, PolicyAction> = {}
  for (const part of text(given, 'scan-policy')?.split(',') ?? []) {
    const [, verdict = '', wanted = ''] = /^(caution|dangerous)=([a-z]+)$/.exec(part.trim()) ?? []
    const action = policyActions.find((one) => one === wanted)
    if (!action)
      throw new UsageError(
        `'${part}' is not a scan policy. Use the form dangerous=quarantine: caution or dangerous with ${policyActions.join(', ')}.`,
      )
    policy[verdict] = action
  }
  return policy
}

/** Options for outgoing requests of a node. */
export const outgoingOptions: Options = {
  'allow-networks': { value: 'CIDR,...', help: 'private networks that outgoing requests may reach' },
  ca: { value: 'FILE', help: "certificates (PEM) to trust in addition to the system's" },
}

/** The options in the form that the registry takes. Throws {@link UsageError} for invalid values. */
export async function toOutgoing(given: Arguments): Promise<OutgoingOptions> {
  return { allowNetworks: await toNetworks(text(given, 'allow-networks')), ca: toCertificates(text(given, 'ca')) }
}

async function toNetworks(list: string | undefined): Promise<string[]> {
  if (list === undefined) return []
  const { isNetwork } = await import('@skillstead/core/internal')
  const networks = list.split(',').map((network) => network.trim())
  const wrong = networks.find((network) => !isNetwork(network))
  if (wrong !== undefined) throw new UsageError(`'${wrong}' is not a network. Use the form 10.0.0.0/8.`)
  return networks
}

function toCertificates(file: string | undefined): string[] {
  if (file === undefined) return []
  const found = readOptionFile(file).match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (found.length === 0 || !found.every(isCertificate))
    throw new UsageError(`'${file}' contains no certificates in PEM form.`)
  return found
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0
  } catch {
    return false
  }
}
