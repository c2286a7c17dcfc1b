import type { Combination, Fact, Rule } from './rule.ts'
import { concealment } from './rules/concealment.ts'
import * as credentialAccess from './rules/credential-access.ts'
import { hiddenInstructions } from './rules/hidden-instructions.ts'
import { instructionOverride } from './rules/instruction-override.ts'
import { limitsLifted } from './rules/limits-lifted.ts'
import * as remoteCode from './rules/remote-code.ts'
import * as reverseShell from './rules/reverse-shell.ts'
import * as destruction from './rules/destruction.ts'
import * as dynamicCode from './rules/dynamic-code.ts'
import * as systemFlows from './rules/system-flows.ts'
import * as beyondDoubt from './rules/beyond-doubt.ts'
import * as secretFlows from './rules/secret-flows.ts'
import * as secretsLeave from './rules/secrets-leave.ts'
import * as collectedAndSent from './rules/collected-and-sent.ts'
import * as inputCapture from './rules/input-capture.ts'
import * as embeddedSecrets from './rules/embedded-secrets.ts'
import * as secretsInCommands from './rules/secrets-in-commands.ts'
import * as packageRegistries from './rules/package-registries.ts'
import * as startedByHost from './rules/started-by-host.ts'
import * as exfiltration from './rules/exfiltration.ts'
import * as obfuscation from './rules/obfuscation.ts'
import * as persistence from './rules/persistence.ts'
import * as privilege from './rules/privilege.ts'
import * as fetchedInstructions from './rules/fetched-instructions.ts'
import * as resourceAbuse from './rules/resource-abuse.ts'
import * as supplyChain from './rules/supply-chain.ts'
import * as suspiciousHosts from './rules/suspicious-hosts.ts'
import * as approvals from './rules/approvals.ts'
import * as weakSigns from './rules/weak-signs.ts'
import { socialEngineering } from './rules/social-engineering.ts'
import { toolAbuse } from './rules/tool-abuse.ts'
import { toolOverreach } from './rules/tool-overreach.ts'
import { permissions } from './rules/permissions.ts'
import { outsideOrders } from './rules/outside-orders.ts'
import { dataTheft } from './rules/data-theft.ts'
import { pressure } from './rules/pressure.ts'
import { fakePrerequisite } from './rules/fake-prerequisite.ts'
import { undisclosedBehaviour } from './rules/undisclosed-behaviour.ts'
import { scannerEvasion } from './rules/scanner-evasion.ts'
import { agentControl } from './rules/agent-control.ts'
import * as covertTransfer from './rules/covert-transfer.ts'
import { credentialRequests } from './rules/credential-requests.ts'
import { contextLeakage } from './rules/context-leakage.ts'

/** Exports of a file in `rules/`. */
interface RuleFile {
  readonly rules?: readonly Rule[]
  readonly facts?: readonly Fact[]
  readonly combinations?: readonly Combination[]
}

/** One line per file: `import * as hidden from './rules/hidden.ts'` above, `hidden,` here. */
const files: readonly RuleFile[] = [
  { rules: instructionOverride },
  { rules: limitsLifted },
  { rules: hiddenInstructions },
  { rules: concealment },
  { rules: socialEngineering },
  { rules: toolAbuse },
  { rules: toolOverreach },
  { rules: permissions },
  { rules: outsideOrders },
  { rules: dataTheft },
  covertTransfer,
  { rules: pressure },
  { rules: fakePrerequisite },
  { rules: undisclosedBehaviour },
  { rules: scannerEvasion },
  { rules: agentControl },
  { rules: credentialRequests },
  { rules: contextLeakage },
  credentialAccess,
  remoteCode,
  reverseShell,
  destruction,
  dynamicCode,
  embeddedSecrets,
  secretsInCommands,
  exfiltration,
  collectedAndSent,
  inputCapture,
  secretFlows,
  { rules: secretsLeave.rules },
  beyondDoubt,
  systemFlows,
  obfuscation,
  persistence,
  privilege,
  fetchedInstructions,
  resourceAbuse,
  supplyChain,
  packageRegistries,
  startedByHost,
  suspiciousHosts,
  approvals,
  weakSigns,
]

/**
 * All rules, facts and combinations of them that are found in texts. Composing their expressions takes time, so
 * packages are built with the result in place of this module.
 */
export const rules: readonly Rule[] = files.flatMap((file) => file.rules ?? [])
export const facts: readonly Fact[] = files.flatMap((file) => file.facts ?? [])
export const combinations: readonly Combination[] = files.flatMap((file) => file.combinations ?? [])
