/** Limits of a bundle of rules. */
export const bundleLimits = {
  bytesMax: 512 * 1024,
  rulesMax: 200,
  patternsMax: 40,
  expressionCharactersMax: 4000,
  /** Number of ways in which one expression can match at one position of a text; see `ExpressionTraits`. */
  waysMax: 10_000,
  /** Total length of the words and anchors of all rules. A pattern is tried only around these texts. */
  searchedCharactersMax: 12_288,
  examplesMax: 16,
  exampleCharactersMax: 1000,
} as const
