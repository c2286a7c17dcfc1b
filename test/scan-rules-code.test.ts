import { describe, expect, it } from 'vitest'
import type { Combination, Rule } from '../packages/core/src/scan/rule.ts'
import * as collectedAndSent from '../packages/core/src/scan/rules/collected-and-sent.ts'
import * as credentialAccess from '../packages/core/src/scan/rules/credential-access.ts'
import * as destruction from '../packages/core/src/scan/rules/destruction.ts'
import * as dynamicCode from '../packages/core/src/scan/rules/dynamic-code.ts'
import * as embeddedSecrets from '../packages/core/src/scan/rules/embedded-secrets.ts'
import * as exfiltration from '../packages/core/src/scan/rules/exfiltration.ts'
import * as fetchedInstructions from '../packages/core/src/scan/rules/fetched-instructions.ts'
import * as inputCapture from '../packages/core/src/scan/rules/input-capture.ts'
import * as obfuscation from '../packages/core/src/scan/rules/obfuscation.ts'
import * as persistence from '../packages/core/src/scan/rules/persistence.ts'
import * as privilege from '../packages/core/src/scan/rules/privilege.ts'
import * as remoteCode from '../packages/core/src/scan/rules/remote-code.ts'
import * as resourceAbuse from '../packages/core/src/scan/rules/resource-abuse.ts'
import * as reverseShell from '../packages/core/src/scan/rules/reverse-shell.ts'
import * as supplyChain from '../packages/core/src/scan/rules/supply-chain.ts'
import * as suspiciousHosts from '../packages/core/src/scan/rules/suspicious-hosts.ts'
import { scanFiles } from '../packages/core/src/scan/scan.ts'
import { startMs } from './harness.ts'
import { remoteCodeCases } from './rules/remote-code-cases.ts'
import { secretCases } from './rules/secret-cases.ts'
import { systemCases } from './rules/system-cases.ts'

const files: readonly { rules?: readonly Rule[]; combinations?: readonly Combination[] }[] = [
  collectedAndSent,
  credentialAccess,
  destruction,
  dynamicCode,
  embeddedSecrets,
  exfiltration,
  fetchedInstructions,
  inputCapture,
  obfuscation,
  persistence,
  privilege,
  remoteCode,
  resourceAbuse,
  reverseShell,
  supplyChain,
  suspiciousHosts,
]
const cases = { ...remoteCodeCases, ...secretCases, ...systemCases }

/** The rules that match in a script of that text, whatever the findings weigh there. */
function findRules(text: string): string[] {
  return scanFiles([{ path: 'scripts/run.sh', text }], startMs).findings.map(({ ruleId }) => ruleId)
}

describe('the rules about code', () => {
  it('have cases, every one of them', () => {
    const ofCode = files.flatMap((file) => [...(file.rules ?? []), ...(file.combinations ?? [])])
    expect(Object.keys(cases).toSorted()).toEqual(ofCode.map(({ id }) => id).toSorted())
  })
})

describe.each(Object.entries(cases))('the rule %s', (id, { hits, misses }) => {
  it.each(hits)('finds: %s', (text) => {
    expect(findRules(text)).toContain(id)
  })

  it.each(misses)('lets pass: %s', (text) => {
    expect(findRules(text)).not.toContain(id)
  })
})
