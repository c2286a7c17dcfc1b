import { policyActions, type PolicyAction, type ScanPolicy } from '@skillstead/core'
import { UsageError, text, type Arguments, type Option } from '../command/command.ts'

/** The policy for flagged versions. */
export const scanPolicyOption: Record<string, Option> = {
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
