/** Frequency of each letter and of the space per thousand characters of English, and of all other characters. */
const otherPerThousand = 3
const perThousand = new Map(
  Object.entries({ e: 100, t: 72, a: 65, o: 60, i: 58, n: 56, s: 52, r: 50, l: 33, h: 32, d: 31, c: 28, u: 22, m: 21 }),
)
for (const [letter, times] of Object.entries({
  p: 19,
  f: 17,
  g: 16,
  y: 13,
  b: 12,
  w: 12,
  v: 8,
  k: 6,
  x: 3,
  ' ': 170,
})) {
  perThousand.set(letter, times)
}

/** Estimated rarity of a text by its characters: the logarithm of the number of positions per occurrence. */
export function toRarity(text: string): number {
  return text
    .split('')
    .reduce((sum, character) => sum - Math.log((perThousand.get(character) ?? otherPerThousand) / 1000), 0)
}
