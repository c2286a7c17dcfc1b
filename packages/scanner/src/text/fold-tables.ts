const code = (character: string) => character.charCodeAt(0)
const space = code(' ')

/** The Latin letter of each look-alike in other scripts (from Unicode's confusables, UTS 39). */
export const lookAlikes = toLetters([
  'a\u0430\u03b1\u0251 b\u044c\u0184 c\u0441\u03f2 d\u0501 e\u0435\u0454 g\u0261 h\u04bb',
  'i\u0456\u03b9\u0131 j\u0458\u03f3 k\u03ba l\u04cf n\u0578 o\u043e\u03bf\u0585 p\u0440\u03c1',
  'q\u051b\u0566 r\u1d26 s\u0455 u\u03c5\u057d v\u03bd\u0475 w\u051d\u0461 x\u0445\u03c7',
  'y\u0443\u04af A\u0410\u0391 B\u0412\u0392 C\u0421\u03f9 E\u0415\u0395 H\u041d\u0397',
  'I\u0406\u0399\u04c0 J\u0408 K\u041a\u039a M\u041c\u039c N\u039d O\u041e\u039f P\u0420\u03a1',
  'S\u0405 T\u0422\u03a4 X\u0425\u03a7 Y\u04ae\u03a5 Z\u0396',
])

/** The letter of each small capital, a character that authors use only for its look. */
export const smallCapitals = toLetters([
  'a\u1d00 b\u0299 c\u1d04 d\u1d05 e\u1d07 g\u0262 h\u029c i\u026a j\u1d0a k\u1d0b l\u029f m\u1d0d',
  'n\u0274 o\u1d0f p\u1d18 r\u0280 s\ua731 t\u1d1b u\u1d1c v\u1d20 w\u1d21 y\u028f z\u1d22',
])

/** Reads groups of a letter and the characters that look like it. */
function toLetters(lines: readonly string[]): ReadonlyMap<number, number> {
  const groups = lines.flatMap((line) => line.split(' '))
  return new Map(groups.flatMap(([letter, ...others]) => others.map((other) => [code(other), code(letter!)] as const)))
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
  ...([[0xe000, 0xf8ff], [0xfeff], [0xfff9, 0xfffb]] as const),
] as const
const silents = [[0xad], [0x300, 0x36f], [0xfe00, 0xfe0f]] as const
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
export const firstHalf = 4

/** The folded form of each code unit above ASCII. */
export const letterOf = new Uint16Array(65_536)
for (let unit = 0; unit < letterOf.length; unit++) letterOf[unit] = unit
for (const [from, to = from] of spaces) letterOf.fill(space, from, to + 1)
for (const [from, to = from] of invisibles) letterOf.fill(invisible, from, to + 1)
for (const [from, to = from] of silents) letterOf.fill(silent, from, to + 1)
letterOf.fill(firstHalf, 0xd800, 0xdc00)
for (const unit of lookAlikes.keys()) letterOf[unit] = lookAlike
for (const [from, to] of shapes) for (let unit = from; unit <= to; unit++) letterOf[unit] = toPlainLetter(unit) ?? unit
for (const [unit, letter] of smallCapitals) letterOf[unit] = letter
for (const [quote, plain] of ["\u2018'", "\u2019'", '\u201c"', '\u201d"']) letterOf[code(quote!)] = code(plain!)

/** The code of the ASCII character that an invisible tag character copies; undefined for other characters. */
export function toTagged(point: number): number | undefined {
  return point >= 0xe0020 && point <= 0xe007e ? point - 0xe0000 : undefined
}

/** The folded form of a character above U+FFFF; undefined for most, such as emoji. */
export function toAstralLetter(point: number): number | undefined {
  if (point >> 16 === 0xe) return invisible
  // Letters of flags, and letters in circles and squares.
  if (point >= 0x1f1e6 && point <= 0x1f1ff) return point - 0x1f1e6 + code('a')
  const inBadge = point >= 0x1f130 && point <= 0x1f189 ? (point - 0x1f130) % 32 : 26
  if (inBadge < 26) return inBadge + code('a')
  // Bold, italic and other mathematical letters.
  return point >= 0x1d400 && point <= 0x1d7ff ? toPlainLetter(point) : undefined
}

function toPlainLetter(point: number): number | undefined {
  const plain = String.fromCodePoint(point).normalize('NFKC')
  return plain.length === 1 ? code(plain) : undefined
}
