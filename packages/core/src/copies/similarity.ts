/** How many words, or characters of scripts without spaces, stand in one shingle. */
const shingleWords = 5
/** Longer bodies are compared as far as this, in UTF-16 units, so that enormous ones cannot hold the event loop. */
const comparedCharactersMax = 256 * 1024

const unspaced = 'Han Hiragana Katakana Bopomofo Yi Thai Lao Khmer Myanmar Tibetan'
  .split(' ')
  .map((script) => `\\p{Script=${script}}`)
  .join('')
const wordPattern = new RegExp(`[${unspaced}]\\p{M}*|(?:(?![${unspaced}])[\\p{L}\\p{N}\\p{M}_])+`, 'gu')

/**
 * How much of the smaller of two bodies stands in the other, from 0 to 1: the share of its runs of five words. Case, white
 * space, punctuation and the order of passages make no difference; a body that is a part of the other gives 1.
 *
 * @example measureSimilarity('Read the file, then sum it up.', 'First read the file, then sum it up. Be brief.') // 1
 */
export function measureSimilarity(a: string, b: string): number {
  const one = splitWords(a)
  const other = splitWords(b)
  // A body of fewer words is one run of all it has.
  const length = Math.min(shingleWords, one.length, other.length)
  if (length === 0) return one.length === other.length ? 1 : 0
  const ids = new Map<string, number>()
  const sets = [toShingles(one, length, ids), toShingles(other, length, ids)]
  const [smaller, larger] = sets.toSorted((left, right) => left.size - right.size) as [Set<string>, Set<string>]
  let shared = 0
  for (const shingle of smaller) if (larger.has(shingle)) shared++
  return shared / smaller.size
}

function splitWords(text: string): string[] {
  const folded = text.slice(0, comparedCharactersMax).normalize('NFKC').toLowerCase()
  return folded.match(wordPattern) ?? []
}

/** Words by small numbers, which make short keys of long words. */
function toShingles(words: readonly string[], length: number, ids: Map<string, number>): Set<string> {
  const numbers = words.map((word) => {
    const known = ids.get(word)
    if (known !== undefined) return known
    ids.set(word, ids.size)
    return ids.size - 1
  })
  const shingles = new Set<string>()
  for (let i = 0; i + length <= numbers.length; i++) shingles.add(numbers.slice(i, i + length).join(' '))
  return shingles
}
