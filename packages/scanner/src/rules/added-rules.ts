import { rulesVersion } from './rules-version.ts'

/** Verified rules that a scan applies besides the built-in ones, as text, because the scan sends them to threads. */
export interface AddedRules {
  /** Identifies the rules, as `<release>.<digest>`. */
  readonly id: string
  /** The document of the rules as JSON. */
  readonly text: string
}

/** Identifies the engine, its rules and the added ones: what a report gives as the version of its rules. */
export function toRulesVersion(added?: Pick<AddedRules, 'id'>): string {
  return added ? `${rulesVersion}+${added.id}` : rulesVersion
}
