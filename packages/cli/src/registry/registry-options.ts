import { toOneLine } from '@skillstead/protocol'
import { type PolicyAction, policyActions, type ScanPolicy } from '@skillstead/core'
import { isNoteName } from '@skillstead/core/internal'
import { UsageError, textOption, type Arguments, type Options } from '../command/command.ts'

/** The name of a node in its log, for every command that can write the first log entry. */
export const originOption: Options = {
  origin: {
    value: 'NAME',
    help: 'the name of the log and its key, such as skills.example.com; it cannot change after the first entry',
  },
}

/** Throws {@link UsageError} for an invalid log name. */
export function toLogOrigin(given: Arguments): string | undefined {
  const origin = textOption(given, 'origin')
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
  for (const part of textOption(given, 'scan-policy')?.split(',') ?? []) {
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
