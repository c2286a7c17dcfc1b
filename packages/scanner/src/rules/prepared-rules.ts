import { Search } from '../match/search.ts'
import { listTraits, type PatternTraits } from '../match/traits.ts'
import { listBuiltInTraits } from './list-traits.ts'
import type { Combination, CodeRule, Fact, LoadedRules, Rule } from './load-rules.ts'
import { builtIn } from './rule-table.ts'
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

  /** The traits of the patterns of each probe. */
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
