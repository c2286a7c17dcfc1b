import * as v from 'valibot'
import { Count, Version } from './fields.ts'
import { Security, severities, signals } from './security.ts'

const ChangeFinding = v.object({
  /** The id of the rule, which is stable and in kebab-case: `gains-secrets`, `removes-safeguards`, ... */
  ruleId: v.string(),
  severity: v.picklist(severities),
  signal: v.picklist(signals),
  title: v.string(),
  /** What was added or removed: hosts, paths, passages; at most 20. */
  items: v.array(v.string()),
  /**
   * Location of the first item in the later version; null for an item without a single location, and for a removed
   * item.
   */
  path: v.nullable(v.string()),
  line: v.nullable(Count),
  remediation: v.string(),
})
/** Something that a version adds to an earlier one, or removes from it. */
export type ChangeFinding = v.InferOutput<typeof ChangeFinding>

/**
 * The verdict on what a version changes. It depends on the content of the version and of an earlier version, while
 * `security` depends on the content of the version alone.
 */
export const Change = v.object({
  /** The version that this version was compared with. */
  since: Version,
  /** Whether only the patch number differs: users do not expect a patch to have new abilities. */
  patch: v.boolean(),
  verdict: Security.entries.verdict,
  findings: v.array(ChangeFinding),
})
export type Change = v.InferOutput<typeof Change>
