import { Search } from '../match/search.ts'
import { listTraits, type PatternTraits } from '../match/traits.ts'
import { toRulesVersion, type AddedRules } from './added-rules.ts'
import { listBuiltInTraits } from './list-traits.ts'
import { loadRules } from './load-rules.ts'
import type { Combination, CodeRule, Fact, LoadedRules, Rule, RuleHead } from './load-rules.ts'
import type { RulesDocument } from './rule-document.ts'
import { allRules, builtIn, builtInIds, builtInParts } from './rule-table.ts'
import { rulesVersion } from './rules-version.ts'

/** Rules with their search, which is created for the first text: it is the slowest part of a node's start. */
export class PreparedRules {
  readonly rules: readonly Rule[]
  /** All that is searched for: the rules first, and then the facts. */
  readonly probes: readonly (Rule | Fact)[]
  /** Sets of findings and facts that together are a finding. */
  readonly combinations: readonly Combination[]
  readonly codeRules: readonly CodeRule[]
  /** Whether code is read even if no built-in rule can match it. */
  readonly readsAllCode: boolean
  /** Identifies the engine and these rules. */
  readonly version: string
  readonly #list: () => Traits
  #traits: Traits | undefined
  #search: Search | undefined

  /** `list` returns the traits of the patterns of all probes. Default: reads their expressions. */
  constructor(
    { rules, facts, combinations, codeRules }: Omit<LoadedRules, 'heads'>,
    list: () => Traits = () => listTraits(this.probes),
    version = rulesVersion,
  ) {
    this.version = version
    this.rules = rules
    this.probes = [...rules, ...facts]
    this.combinations = combinations
    this.codeRules = codeRules
    this.readsAllCode = codeRules.length > builtIn.codeRules.length
    this.#list = list
  }

  get traits(): Traits {
    return (this.#traits ??= this.#list())
  }

  get search(): Search {
    return (this.#search ??= new Search(this.probes, this.traits))
  }
}

type Traits = readonly (readonly PatternTraits[])[]

/** The built-in rules. Their search is created on first use, because most nodes scan only in threads. */
export const builtInRules = new PreparedRules(builtIn, listBuiltInTraits)

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
