import type { ChangeFinding } from '@skillstead/protocol'

interface ChangeRule extends Pick<ChangeFinding, 'severity' | 'title' | 'remediation'> {
  readonly ruleId: string
  /** What it indicates in a patch release, and in a release that may bring new abilities. */
  readonly inPatch: ChangeFinding['signal']
  readonly inOther: ChangeFinding['signal']
}

const readTheDifference = 'Read the difference between the versions before you update.'
const always = { severity: 'high', inPatch: 'suspicious', inOther: 'suspicious' } as const
const inPatches = { severity: 'medium', inPatch: 'suspicious', inOther: 'power' } as const
const gain = {
  ...inPatches,
  remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
} as const

/** What a version can change, with what that indicates. Findings of the scan have their own signals. */
export const changeRules = {
  addsFindings: {
    ...always,
    ruleId: 'adds-findings',
    title: 'The scan finds passages in it that the earlier version does not have',
    remediation: 'Remove the passages, or explain them in the changelog.',
  },
  gainsSecretsAndNetwork: {
    ...always,
    ruleId: 'gains-secrets-and-network',
    title: 'It newly reads secrets and reaches the network',
    remediation: 'Check that the secrets only go to the service that they belong to.',
  },
  gainsStores: {
    ...inPatches,
    ruleId: 'gains-credential-stores',
    severity: 'high',
    title: 'It newly reads places where the machine keeps secrets of other programs',
    remediation: 'Ask for the one secret that the skill needs in an environment variable.',
  },
  reachesOthers: {
    ...inPatches,
    ruleId: 'reaches-other-hosts',
    title: 'It has access to secrets and newly reaches other hosts',
    remediation: 'Check that the hosts belong to the service that the secrets are for.',
  },
  gainsSecrets: { ...gain, ruleId: 'gains-secrets', title: 'It newly reads secrets' },
  gainsStartup: {
    ...gain,
    ruleId: 'gains-startup',
    title: 'It newly touches files that programs and agents run or read when they start',
  },
  gainsPrivilege: { ...gain, ruleId: 'gains-privilege', title: 'It newly acts with the rights of an administrator' },
  gainsNetwork: { ...gain, ruleId: 'gains-network', title: 'It newly reaches the network' },
  gainsShell: { ...gain, ruleId: 'gains-shell', inPatch: 'power', title: 'It newly runs commands' },
  addsInstructions: {
    ...inPatches,
    ruleId: 'adds-instructions',
    title: 'Instructions that reach beyond the task were inserted into an otherwise unchanged text',
    remediation: readTheDifference,
  },
  addsBinary: {
    ...inPatches,
    ruleId: 'adds-binary',
    title: 'It newly contains files that are not text',
    remediation: 'Publish the source instead of binary files.',
  },
  removesSafeguards: {
    ...inPatches,
    ruleId: 'removes-safeguards',
    title: 'It no longer restricts the agent as the earlier version did',
    remediation: readTheDifference,
  },
  notCompared: {
    ...always,
    ruleId: 'not-compared',
    severity: 'medium',
    title: 'A part that changed could not be compared',
    remediation: 'Split large files, so that each change can be read.',
  },
} as const satisfies Record<string, ChangeRule>
export type ChangeRuleName = keyof typeof changeRules
