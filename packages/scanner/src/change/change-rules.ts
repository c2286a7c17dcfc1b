import type { ChangeFinding } from '@skillstead/protocol'

interface ChangeRule extends Pick<ChangeFinding, 'severity' | 'title' | 'remediation'> {
  readonly ruleId: string
  /** What it indicates in a patch release, and in a release that may bring new abilities. */
  readonly inPatch: ChangeFinding['signal']
  readonly inOther: ChangeFinding['signal']
}

const readTheDifference = 'Read the difference between the versions before you update.'
const explainInChangelog = 'Publish new access as a minor or major version, and state its purpose in the changelog.'

/** What a version can change, with what that indicates. Findings of the scan have their own signals. */
export const changeRules = {
  addsFindings: toRule(
    'adds-findings',
    'high',
    'suspicious',
    'suspicious',
    'The scan finds passages in it that the earlier version does not have',
    'Remove the passages, or explain them in the changelog.',
  ),
  gainsSecretsAndNetwork: toRule(
    'gains-secrets-and-network',
    'high',
    'suspicious',
    'suspicious',
    'It newly reads secrets and reaches the network',
    'Check that the secrets only go to the service that they belong to.',
  ),
  gainsStores: toRule(
    'gains-credential-stores',
    'high',
    'suspicious',
    'power',
    'It newly reads places where the machine keeps secrets of other programs',
    'Ask for the one secret that the skill needs in an environment variable.',
  ),
  reachesOthers: toRule(
    'reaches-other-hosts',
    'medium',
    'suspicious',
    'power',
    'It has access to secrets and newly reaches other hosts',
    'Check that the hosts belong to the service that the secrets are for.',
  ),
  gainsSecrets: toRule('gains-secrets', 'medium', 'suspicious', 'power', 'It newly reads secrets', explainInChangelog),
  gainsStartup: toRule(
    'gains-startup',
    'medium',
    'suspicious',
    'power',
    'It newly touches files that programs and agents run or read when they start',
    explainInChangelog,
  ),
  gainsPrivilege: toRule(
    'gains-privilege',
    'medium',
    'suspicious',
    'power',
    'It newly acts with the rights of an administrator',
    explainInChangelog,
  ),
  gainsNetwork: toRule(
    'gains-network',
    'medium',
    'suspicious',
    'power',
    'It newly reaches the network',
    explainInChangelog,
  ),
  gainsShell: toRule('gains-shell', 'medium', 'power', 'power', 'It newly runs commands', explainInChangelog),
  addsInstructions: toRule(
    'adds-instructions',
    'medium',
    'suspicious',
    'power',
    'Instructions that reach beyond the task were inserted into an otherwise unchanged text',
    readTheDifference,
  ),
  addsBinary: toRule(
    'adds-binary',
    'medium',
    'suspicious',
    'power',
    'It newly contains files that are not text',
    'Publish the source instead of binary files.',
  ),
  removesSafeguards: toRule(
    'removes-safeguards',
    'medium',
    'suspicious',
    'power',
    'It no longer restricts the agent as the earlier version did',
    readTheDifference,
  ),
  notCompared: toRule(
    'not-compared',
    'medium',
    'suspicious',
    'suspicious',
    'A part that changed could not be compared',
    'Split large files, so that each change can be read.',
  ),
} as const
export type ChangeRuleName = keyof typeof changeRules

function toRule(
  ruleId: string,
  severity: ChangeRule['severity'],
  inPatch: ChangeRule['inPatch'],
  inOther: ChangeRule['inOther'],
  title: string,
  remediation: string,
): ChangeRule {
  return { ruleId, severity, inPatch, inOther, title, remediation }
}
