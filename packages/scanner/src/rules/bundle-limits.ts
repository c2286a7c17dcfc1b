/** Limits of a bundle of rules. */
export const bundleLimits = {
  bytesMax: 512 * 1024,
  rulesMax: 200,
  patternsMax: 40,
  expressionCharactersMax: 4000,
  /** Of one expression at one position of a text; see `ExpressionTraits`. */
  waysMax: 10_000,
  /** Of all texts around which the patterns are tried. */
  searchedCharactersMax: 12_288,
  examplesMax: 16,
  exampleCharactersMax: 1000,
} as const
