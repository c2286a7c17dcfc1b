import { lookAlikes, smallCapitals } from './look-alikes.ts'

const code = (character: string) => character.charCodeAt(0)
const space = code(' ')

/** Second halves of tag characters, U+E0020 to U+E007E, which copy ASCII and are invisible. */
export const tagsFrom = 0xdc20
export const tagsTo = 0xdc7e
export const tagsFirstHalf = 0xdb40
/** Bold, italic and other mathematical letters, U+1D400 to U+1D7FF. */
export const mathFirstHalf = 0xd835

/** The plain form of a mathematical letter, by the second half of its surrogate pair. */
export function toMathLetter(unit: number): number {
  const [letter = ''] = String.fromCharCode(mathFirstHalf, unit).normalize('NFKC')
  return letter.length === 1 ? letter.charCodeAt(0) : unit
}

/** Letters in circles and squares, U+1F130 to U+1F189, and the letters of flags, U+1F1E6 to U+1F1FF. */
export const badgesFirstHalf = 0xd83c

/** The letter of a badge, by the second half of its surrogate pair. Undefined for emoji. */
export function toBadgeLetter(unit: number): number | undefined {
  if (unit >= 0xdde6 && unit <= 0xddff) return unit - 0xdde6 + code('a')
  if (unit < 0xdd30 || unit > 0xdd89) return undefined
  const index = (unit - 0xdd30) % 32
  return index < 26 ? code('a') + index : undefined
}

/** Ranges of code units that are white space, invisible, or combining. */
const spaces = [
  [0x85],
  [0xa0],
  [0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f],
  [0x205f],
  [0x2800],
  [0x3000],
] as const
const invisibles = [
  // Hangul fillers are letters without a shape.
  ...([[0x115f, 0x1160], [0x3164], [0xffa0]] as const),
  ...([[0x7f], [0x34f], [0x61c], [0x180e], [0x200b, 0x200f], [0x202a, 0x202e], [0x2060, 0x206f]] as const),
  ...([[0xe000, 0xf8ff], [0xfeff], [0xfff9, 0xfffb], [tagsFirstHalf]] as const),
] as const
const silents = [[0xad], [0x300, 0x36f], [0xfe00, 0xfe0f], [mathFirstHalf]] as const
/** Raised, lowered, circled, wide or symbol-shaped letters that NFKC converts to a letter. */
const shapes = [
  [0x1d2c, 0x1d6a],
  [0x2090, 0x209c],
  [0x2100, 0x214f],
  [0x24b6, 0x24e9],
  [0xff01, 0xff5e],
] as const

/** Markers in `letterOf` for code units that are not letters: these values are no characters above ASCII. */
export const invisible = 1
export const silent = 2
export const lookAlike = 3
export const secondHalf = 4

/** The folded form of each code unit above ASCII. */
export const letterOf = new Uint16Array(65_536)
for (let unit = 0; unit < letterOf.length; unit++) letterOf[unit] = unit
for (const [from, to = from] of spaces) letterOf.fill(space, from, to + 1)
for (const [from, to = from] of invisibles) letterOf.fill(invisible, from, to + 1)
for (const [from, to = from] of silents) letterOf.fill(silent, from, to + 1)
letterOf.fill(secondHalf, 0xdc00, 0xe000)
for (const unit of lookAlikes.keys()) letterOf[unit] = lookAlike
for (const [from, to] of shapes) {
  for (let unit = from; unit <= to; unit++) {
    const letter = String.fromCharCode(unit).normalize('NFKC')
    if (letter.length === 1) letterOf[unit] = code(letter)
  }
}
for (const [letter, small] of smallCapitals) letterOf[code(small)] = code(letter)
for (const [quote, plain] of ["\u2018'", "\u2019'", '\u201c"', '\u201d"']) letterOf[code(quote!)] = code(plain!)
