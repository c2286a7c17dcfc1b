import { listTraits } from '../match/traits.ts'
import { toRulesVersion, type AddedRules } from './added-rules.ts'
import { loadRules, type LoadedRules, type RuleHead } from './load-rules.ts'
import { builtInRules, PreparedRules } from './prepared-rules.ts'
import type { RulesDocument } from './rule-document.ts'
import { allRules, builtIn, builtInIds, builtInParts } from './rule-table.ts'

/** The last few prepared rules: several, because the registries of a process share their threads. */
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

/** The heads of all rules that can report findings: built-in and added ones. */
export function listRules(added?: AddedRules): readonly RuleHead[] {
  if (!added) return allRules
  return [...allRules, ...readAddedRules(added).heads]
}

/** The rules of a document of a bundle, which may use the named parts of the built-in ones. */
export function loadDocument({ words = {}, ...document }: RulesDocument): LoadedRules {
  return loadRules([document], { ...builtInParts, ...words })
}

/** The added rules, without those that this version has built in meanwhile. */
function readAddedRules({ text }: AddedRules): LoadedRules {
  const document: RulesDocument = JSON.parse(text)
  const { facts = [], rules } = document
  return loadDocument({ ...document, facts: facts.filter(isNew), rules: rules.filter(isNew) })
}

const isNew = ({ id }: { readonly id: string }) => !builtInIds.has(id)

/** Prepares the built-in rules together with added rules. */
export function addRules(added: LoadedRules, version: string): PreparedRules {
  const { rules, facts, combinations, codeRules } = builtIn
  const loaded = {
    rules: [...rules, ...added.rules],
    facts: [...facts, ...added.facts],
    combinations: [...combinations, ...added.combinations],
    codeRules: [...codeRules, ...added.codeRules],
  }
  const listAll = () => {
    const { traits } = builtInRules
    const [ofRules, ofFacts] = [traits.slice(0, rules.length), traits.slice(rules.length)]
    return [...ofRules, ...listTraits(added.rules), ...ofFacts, ...listTraits(added.facts)]
  }
  return new PreparedRules(loaded, listAll, version)
}
