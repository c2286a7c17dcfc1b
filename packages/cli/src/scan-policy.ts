import { policyActions, type PolicyAction, type ScanPolicy } from '@skillstead/core'
import { UsageError, text, type Arguments, type Option } from './command.ts'

/** What becomes of versions that a scan has something against. */
export const scanPolicyOption: Record<string, Option> = {
  'scan-policy': {
    value: 'POLICY',
    help: 'what becomes of versions that a scan has something against, as caution=warn,dangerous=quarantine: warn, quarantine, refuse',
  },
}

/** The policy that was given; throws {@link UsageError} for what is none. */
export function toScanPolicy(given: Arguments): ScanPolicy {
  const policy: Record<string, PolicyAction> = {}
  for (const part of text(given, 'scan-policy')?.split(',') ?? []) {
    const [, verdict = '', wanted = ''] = /^(caution|dangerous)=([a-z]+)$/.exec(part.trim()) ?? []
    const action = policyActions.find((one) => one === wanted)
    if (!action)
      throw new UsageError(
        `'${part}' is no policy: write it as dangerous=quarantine, for caution or dangerous, with ${policyActions.join(', ')}.`,
      )
    policy[verdict] = action
  }
  return policy
}
