import type { Combination, Fact, Rule } from '../match/rule.ts'
import { concealment } from './concealment.ts'
import * as credentialAccess from './credential-access.ts'
import { hiddenInstructions } from './hidden-instructions.ts'
import { instructionOverride } from './instruction-override.ts'
import { limitsLifted } from './limits-lifted.ts'
import * as remoteCode from './remote-code.ts'
import * as reverseShell from './reverse-shell.ts'
import * as destruction from './destruction.ts'
import * as dynamicCode from './dynamic-code.ts'
import * as systemFlows from './system-flows.ts'
import * as beyondDoubt from './beyond-doubt.ts'
import * as secretFlows from './secret-flows.ts'
import * as secretsLeave from './secrets-leave.ts'
import * as collectedAndSent from './collected-and-sent.ts'
import * as inputCapture from './input-capture.ts'
import * as embeddedSecrets from './embedded-secrets.ts'
import * as secretsInCommands from './secrets-in-commands.ts'
import * as packageRegistries from './package-registries.ts'
import * as startedByHost from './started-by-host.ts'
import * as exfiltration from './exfiltration.ts'
import * as obfuscation from './obfuscation.ts'
import * as persistence from './persistence.ts'
import * as privilege from './privilege.ts'
import * as fetchedInstructions from './fetched-instructions.ts'
import * as resourceAbuse from './resource-abuse.ts'
import * as supplyChain from './supply-chain.ts'
import * as suspiciousHosts from './suspicious-hosts.ts'
import * as approvals from './approvals.ts'
import * as weakSigns from './weak-signs.ts'
import { socialEngineering } from './social-engineering.ts'
import { toolAbuse } from './tool-abuse.ts'
import { toolOverreach } from './tool-overreach.ts'
import { permissions } from './permissions.ts'
import { outsideOrders } from './outside-orders.ts'
import { dataTheft } from './data-theft.ts'
import { pressure } from './pressure.ts'
import { fakePrerequisite } from './fake-prerequisite.ts'
import { undisclosedBehaviour } from './undisclosed-behaviour.ts'
import { scannerEvasion } from './scanner-evasion.ts'
import { agentControl } from './agent-control.ts'
import * as covertTransfer from './covert-transfer.ts'
import { credentialRequests } from './credential-requests.ts'
import { contextLeakage } from './context-leakage.ts'

/** Exports of a file in `rules/`. */
interface RuleFile {
  readonly rules?: readonly Rule[]
  readonly facts?: readonly Fact[]
  readonly combinations?: readonly Combination[]
}

/** One line per file: `import * as hidden from './hidden.ts'` above, `hidden,` here. */
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
