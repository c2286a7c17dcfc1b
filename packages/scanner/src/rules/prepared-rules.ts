import { listTables } from './list-tables.ts'
import type { CodeRule } from './code-rule.ts'
import type { Combination, Fact, Rule } from '../match/rule.ts'
import { codeRules, combinations, probes, rules } from './rule-table.ts'
import { rulesVersion } from './rules-version.ts'
import { Search } from '../match/search.ts'
import type { SearchTables } from '../match/search-tables.ts'

/** What a scan searches for, the combinations of it that are findings, and the rules about what code does. Rules come before facts. */
interface RuleTable {
  readonly rules: readonly Rule[]
  readonly probes: readonly (Rule | Fact)[]
  readonly combinations: readonly Combination[]
  readonly codeRules: readonly CodeRule[]
  /** Whether code is read in which no built-in rule can find anything. Default: false. */
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
  readonly #listTables: () => SearchTables
  #tables: SearchTables | undefined
  #search: Search | undefined

  /** `list`: the tables of the patterns of all probes. */
  constructor(
    { rules: all, probes: sought, combinations: combined, codeRules: ofCode, readsAllCode = false }: RuleTable,
    list: () => SearchTables,
    version = rulesVersion,
  ) {
    this.version = version
    this.rules = all
    this.probes = sought
    this.combinations = combined
    this.codeRules = ofCode
    this.readsAllCode = readsAllCode
    this.ofData = new Set(all.flatMap((rule, index) => (rule.roles?.includes('data') ? [index] : [])))
    this.#listTables = list
  }

  /** The tables of the patterns of all probes. */
  get tables(): SearchTables {
    return (this.#tables ??= this.#listTables())
  }

  get search(): Search {
    return (this.#search ??= new Search(this.probes, this.tables))
  }
}

/** The rules of this package. Most nodes scan only in threads, so each thread prepares its own. */
export const builtInRules = new PreparedRules({ rules, probes, combinations, codeRules }, listTables)
