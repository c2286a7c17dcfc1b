import { readTraits } from '../match/match.ts'
import { builtInRules, PreparedRules } from './prepared-rules.ts'
import { toTables, toTraits } from '../match/search-tables.ts'
import { allRules } from './rule-table.ts'
import { facts } from './text-rules.ts'
import type { Rule } from '../match/rule.ts'
import { toRulesVersion, type AddedRules } from './added-rules.ts'
import type { RulesDocument } from './rules-document.ts'
import { toRules } from './to-rules.ts'

/** The ids that added rules cannot have. */
export const builtInIds: ReadonlySet<string> = new Set([...allRules, ...facts].map(({ id }) => id))

/** The last few, because the registries of a process share their threads. */
const prepared = new Map<string, PreparedRules>()
const preparedMax = 4

/** The built-in rules and the added ones. Prepared once, on the first use. */
export function prepareRules(added?: AddedRules): PreparedRules {
  if (!added) return builtInRules
  const known = prepared.get(added.id)
  if (known) return known
  const made = addRules(readAddedRules(added), toRulesVersion(added))
  const [oldest] = prepared.keys()
  if (prepared.size === preparedMax) prepared.delete(oldest!)
  prepared.set(added.id, made)
  return made
}

/** Everything that has findings: the built-in rules and the added ones. */
export function listRules(added?: AddedRules): readonly Omit<Rule, 'patterns'>[] {
  return added ? [...allRules, ...prepareRules(added).rules.slice(builtInRules.rules.length)] : allRules
}

/** The added rules, without those that this version has built in meanwhile. */
function readAddedRules({ text }: AddedRules): Rule[] {
  return toRules(JSON.parse(text) as RulesDocument).filter(({ id }) => !builtInIds.has(id))
}

function addRules(added: readonly Rule[], version: string): PreparedRules {
  const { rules, probes, combinations, codeRules } = builtInRules
  const all = [...rules, ...added]
  return new PreparedRules(
    { rules: all, probes: [...all, ...probes.slice(rules.length)], combinations, codeRules },
    () => {
      const traits = added.map(({ patterns }) => patterns.map(readTraits))
      return toTables(toTraits(builtInRules.tables).toSpliced(rules.length, 0, ...traits))
    },
    version,
  )
}
