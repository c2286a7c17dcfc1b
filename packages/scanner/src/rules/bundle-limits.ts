/** Limits of a bundle of rules. */
export const bundleLimits = {
  bytesMax: 512 * 1024,
  rulesMax: 200,
  patternsMax: 20,
  expressionCharactersMax: 4000,
  /** Of one expression at one position of a text; see `countWays`. */
  waysMax: 250_000,
  /** Of all texts around which the patterns are tried: all rules share an automaton of 65,536 states. */
  searchedCharactersMax: 12_288,
  examplesMax: 5,
  exampleCharactersMax: 1000,
} as const
