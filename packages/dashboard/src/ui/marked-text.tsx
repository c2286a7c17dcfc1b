/** Text with the words of a search marked at the beginning of words; anywhere in scripts without spaces. */
export function Marked({ text, terms }: { text: string; terms: string }) {
  const words = terms.toLowerCase().match(/\p{Ideographic}+|[\p{L}\p{N}\p{M}]{2,}/gu)
  if (!words) return <>{text}</>
  // Longest first, because the first matching alternative wins.
  const longest = [...new Set(words)].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(`(${longest.map(toPattern).join('|')})`, 'giu')
  return <>{text.split(pattern).map((part, place) => (place % 2 === 1 ? <mark key={place}>{part}</mark> : part))}</>
}

function toPattern(word: string): string {
  const isSpaced = !/[\p{Ideographic}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word)
  return isSpaced ? `(?<![\\p{L}\\p{N}])${word}` : word
}
