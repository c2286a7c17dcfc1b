import type { CodeFactKind } from '../code/reading.ts'
import type { Rule } from '../match/rule.ts'

/** Facts about code of which one must be there. */
export interface FactsOf {
  readonly kinds: readonly CodeFactKind[]
  /** What the value of the fact must match; an unknown value is the empty text. */
  readonly value?: RegExp
  /** What the value must not match. */
  readonly except?: RegExp
}

/** A finding about what code does: a fact, or a value that comes from one fact and reaches another. */
export interface CodeRule extends Omit<Rule, 'patterns'> {
  readonly from?: FactsOf
  readonly to: FactsOf
  /** Ids of rules that report the same: on a line with a finding of one of them, this rule adds none. */
  readonly unlessReported?: readonly string[]
  /** Only if the value belongs to one service and the address to another. */
  readonly toStranger?: true
}
