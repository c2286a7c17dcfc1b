import type { CodeRule } from './code-rule.ts'
import type { Combination, Fact, Rule } from '../match/rule.ts'
import { codeRules, combinations, probes, rules } from './rule-table.ts'
import { rulesVersion } from './rules-version.ts'
import { Search } from '../match/search.ts'
import { listTraits, type PatternTraits } from '../match/traits.ts'
import { listBuiltInTraits } from './list-traits.ts'

/**
 * What a scan needs. `probes`: all that is searched for, the `rules` first and then the facts; `combinations`: sets of
 * them that are findings; `codeRules`: rules about code.
 */
interface RuleTable {
  readonly rules: readonly Rule[]
  readonly probes: readonly (Rule | Fact)[]
  readonly combinations: readonly Combination[]
  readonly codeRules: readonly CodeRule[]
  /** Whether code is read even if no built-in rule can match it. Default: false. */
  readonly readsAllCode?: boolean
}

/** Rules with their search, which is created for the first text: it is the slowest part of a node's start. */
export class PreparedRules implements RuleTable {
  readonly rules: readonly Rule[]
  readonly probes: readonly (Rule | Fact)[]
  readonly combinations: readonly Combination[]
  readonly codeRules: readonly CodeRule[]
  readonly readsAllCode: boolean
  /** Identifies the engine and these rules. */
  readonly version: string
  /** Indexes of the rules that apply to files of data. */
  readonly ofData: ReadonlySet<number>
  readonly #list: () => Traits
  #traits: Traits | undefined
  #search: Search | undefined

  /** `list`: the traits of the patterns of all probes. Default: reads their expressions. */
  constructor(table: RuleTable, list: () => Traits = () => listTraits(table.probes), version = rulesVersion) {
    this.version = version
    this.rules = table.rules
    this.probes = table.probes
    this.combinations = table.combinations
    this.codeRules = table.codeRules
    this.readsAllCode = table.readsAllCode ?? false
    this.ofData = new Set(table.rules.flatMap((rule, index) => (rule.roles?.includes('data') ? [index] : [])))
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

/** The rules of this package. Most nodes scan only in threads, so each thread prepares its own. */
export const builtInRules = new PreparedRules({ rules, probes, combinations, codeRules }, listBuiltInTraits)
