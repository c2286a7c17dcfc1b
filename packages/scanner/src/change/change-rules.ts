import type { ChangeFinding } from '@skillstead/protocol'

interface ChangeRule extends Pick<ChangeFinding, 'severity' | 'title' | 'remediation'> {
  /** The signal of the change in a patch release, and in a minor or major release. */
  readonly inPatch: ChangeFinding['signal']
  readonly inOther: ChangeFinding['signal']
}

const always = { severity: 'high', inPatch: 'suspicious', inOther: 'suspicious' } as const
const inPatches = { severity: 'medium', inPatch: 'suspicious', inOther: 'power' } as const
const gain = {
  ...inPatches,
  remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
} as const
const readTheDifference = 'Read the difference between the versions before you update.'

/**
 * The changes of a version that rules report, by the id of the rule, with their signals. Findings of the scan have
 * their own signals.
 */
export const changeRules = {
  'adds-findings': {
    ...always,
    title: 'The scan finds passages in it that the earlier version does not have',
    remediation: 'Remove the passages, or explain them in the changelog.',
  },
  'gains-secrets-and-network': {
    ...always,
    title: 'It newly reads secrets and reaches the network',
    remediation: 'Check that the secrets only go to the service that they belong to.',
  },
  'gains-credential-stores': {
    ...inPatches,
    severity: 'high',
    title: 'It newly reads places where the machine keeps secrets of other programs',
    remediation: 'Ask for the one secret that the skill needs in an environment variable.',
  },
  'reaches-other-hosts': {
    ...inPatches,
    title: 'It has access to secrets and newly reaches other hosts',
    remediation: 'Check that the hosts belong to the service that the secrets are for.',
  },
  'gains-secrets': { ...gain, title: 'It newly reads secrets' },
  'gains-startup': { ...gain, title: 'It newly touches files that programs and agents run or read when they start' },
  'gains-privilege': { ...gain, title: 'It newly acts with the rights of an administrator' },
  'gains-network': { ...gain, title: 'It newly reaches the network' },
  'gains-shell': { ...gain, inPatch: 'power', title: 'It newly runs commands' },
  'adds-instructions': {
    ...inPatches,
    title: 'Instructions that reach beyond the task were inserted into an otherwise unchanged text',
    remediation: readTheDifference,
  },
  'adds-binary': {
    ...inPatches,
    title: 'It newly contains files that are not text',
    remediation: 'Publish the source instead of binary files.',
  },
  'removes-safeguards': {
    ...inPatches,
    title: 'It no longer restricts the agent as the earlier version did',
    remediation: readTheDifference,
  },
  'not-compared': {
    ...always,
    severity: 'medium',
    title: 'A part that changed could not be compared',
    remediation: 'Split large files, so that each change can be read.',
  },
} as const satisfies Record<string, ChangeRule>
export type ChangeRuleId = keyof typeof changeRules
