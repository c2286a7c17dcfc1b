/** Parsers give up on chains of more operators, so that their trees are not too deep. */
const operandsMax = 200
const plus = String.raw`\s{0,200}\+\s{0,200}`

/** For each quote mark, chains of literals with it, and what is between two of them. */
const chains = ['"', "'"].map((quote) => {
  const literal = String.raw`${quote}(?:[^\\\n${quote}]|\\.)*${quote}`
  return {
    quote,
    chain: new RegExp(`${literal}(?:${plus}${literal}){${operandsMax},}`, 'g'),
    between: new RegExp(quote + plus + quote),
  }
})

/**
 * Joins neighbouring literals in chains like `"a" + "b" + …` that are too long for a parser. The text keeps its length,
 * so that positions after a chain stay the same.
 */
export function shortenChains(text: string): string {
  return chains.reduce((shortened, { quote, chain, between }) => {
    return shortened.replace(chain, (found) => {
      const literals = found.slice(1, -1).split(between)
      const size = Math.ceil(literals.length / operandsMax)
      const groups: string[] = []
      for (let at = 0; at < literals.length; at += size) groups.push(literals.slice(at, at + size).join(''))
      return groups
        .map((group) => `${quote}${group}${quote}`)
        .join('+')
        .padEnd(found.length)
    })
  }, text)
}
