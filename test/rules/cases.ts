/** Texts of a SKILL.md in which a rule finds something, and texts like them in which nothing is suspicious. */
export interface RuleCases {
  readonly hits: readonly string[]
  readonly misses: readonly string[]
}
