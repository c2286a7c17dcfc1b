import type { ChangeFinding } from '@skillstead/protocol'

interface ChangeRule extends Pick<ChangeFinding, 'severity' | 'title' | 'remediation'> {
  readonly ruleId: string
  /** What it indicates in a patch release, and in a release that may bring new abilities. */
  readonly inPatch: ChangeFinding['signal']
  readonly inOther: ChangeFinding['signal']
}

const readTheDifference = 'Read the difference between the versions before you update.'

/** What a version can change, with what that indicates. Findings of the scan have their own signals. */
export const changeRules = {
  addsFindings: {
    ruleId: 'adds-findings',
    severity: 'high',
    inPatch: 'suspicious',
    inOther: 'suspicious',
    title: 'The scan finds passages in it that the earlier version does not have',
    remediation: 'Remove the passages, or explain them in the changelog.',
  },
  gainsSecretsAndNetwork: {
    ruleId: 'gains-secrets-and-network',
    severity: 'high',
    inPatch: 'suspicious',
    inOther: 'suspicious',
    title: 'It newly reads secrets and reaches the network',
    remediation: 'Check that the secrets only go to the service that they belong to.',
  },
  gainsStores: {
    ruleId: 'gains-credential-stores',
    severity: 'high',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly reads places where the machine keeps secrets of other programs',
    remediation: 'Ask for the one secret that the skill needs in an environment variable.',
  },
  reachesOthers: {
    ruleId: 'reaches-other-hosts',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It has access to secrets and newly reaches other hosts',
    remediation: 'Check that the hosts belong to the service that the secrets are for.',
  },
  gainsSecrets: {
    ruleId: 'gains-secrets',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly reads secrets',
    remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
  },
  gainsStartup: {
    ruleId: 'gains-startup',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly touches files that programs and agents run or read when they start',
    remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
  },
  gainsPrivilege: {
    ruleId: 'gains-privilege',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly acts with the rights of an administrator',
    remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
  },
  gainsNetwork: {
    ruleId: 'gains-network',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly reaches the network',
    remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
  },
  gainsShell: {
    ruleId: 'gains-shell',
    severity: 'medium',
    inPatch: 'power',
    inOther: 'power',
    title: 'It newly runs commands',
    remediation: 'Publish new access as a minor or major version, and state its purpose in the changelog.',
  },
  addsInstructions: {
    ruleId: 'adds-instructions',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'Instructions that reach beyond the task were inserted into an otherwise unchanged text',
    remediation: readTheDifference,
  },
  addsBinary: {
    ruleId: 'adds-binary',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It newly contains files that are not text',
    remediation: 'Publish the source instead of binary files.',
  },
  removesSafeguards: {
    ruleId: 'removes-safeguards',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'power',
    title: 'It no longer restricts the agent as the earlier version did',
    remediation: readTheDifference,
  },
  notCompared: {
    ruleId: 'not-compared',
    severity: 'medium',
    inPatch: 'suspicious',
    inOther: 'suspicious',
    title: 'A part that changed could not be compared',
    remediation: 'Split large files, so that each change can be read.',
  },
} as const satisfies Record<string, ChangeRule>
export type ChangeRuleName = keyof typeof changeRules
