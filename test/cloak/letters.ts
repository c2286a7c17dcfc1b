import { lookAlikes, smallCapitals } from '../../packages/scanner/src/text/fold-tables.ts'
import { pick, type Random } from '../support/random.ts'
import { mapWords, onBody, putInside, type Cloak } from './cloak.ts'

/** Replaces a share of the letters. */
function replaceSome(text: string, random: Random, share: number, of: ReadonlyMap<string, readonly string[]>): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const others = of.get(letter)
    return others && random() < share ? pick(random, others) : letter
  })
}

/** The look-alikes of each letter in a range of Unicode. */
function alikeIn(from: number, to: number): ReadonlyMap<string, readonly string[]> {
  const inRange = [...lookAlikes].filter(([unit]) => unit >= from && unit <= to)
  const byLetter = Map.groupBy(inRange, ([, letter]) => String.fromCharCode(letter))
  return new Map([...byLetter].map(([letter, all]) => [letter, all.map(([unit]) => String.fromCharCode(unit))]))
}

/** Copies of the alphabet: the code points of `A` and `a`. */
const copyOf = (upper: number, lower: number) => (text: string) =>
  text.replace(/[A-Za-z]/g, (letter) => {
    const code = letter.charCodeAt(0)
    return String.fromCodePoint(code < 97 ? upper + code - 65 : lower + code - 97)
  })

const capitalOf = new Map(
  [...smallCapitals].map(([small, letter]) => [String.fromCharCode(letter), String.fromCharCode(small)]),
)

const toTags = (text: string) => [...text].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join('')
const toSelectors = (text: string) =>
  [...Buffer.from(text)].map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join('')
const toBits = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => byte.toString(2).padStart(8, '0').replaceAll('0', '\u200b').replaceAll('1', '\u200c'))
    .join('')

const between = (inside: string) => (body: string) => mapWords(body, 3, (word) => putInside(word, inside))

/** Letters that only look like the ones that are meant, and characters that no reader sees. */
export const letters: readonly Cloak[] = [
  onBody('Cyrillic', 'three in ten letters from Cyrillic', (body, random) =>
    replaceSome(body, random, 0.3, alikeIn(0x400, 0x52f)),
  ),
  onBody('Cyrillic throughout', 'all letters that Cyrillic has', (body, random) =>
    replaceSome(body, random, 1, alikeIn(0x400, 0x52f)),
  ),
  onBody('Greek', 'three in ten letters from Greek', (body, random) =>
    replaceSome(body, random, 0.3, alikeIn(0x370, 0x3ff)),
  ),
  onBody('small capitals', 'all letters as small capitals', (body) =>
    body.replace(/[a-z]/g, (letter) => capitalOf.get(letter) ?? letter),
  ),
  onBody('full width', 'letters as wide as Chinese ones', copyOf(0xff21, 0xff41)),
  onBody('mathematical bold', 'bold letters for formulas', copyOf(0x1d400, 0x1d41a)),
  onBody('mathematical script', 'script letters for formulas', copyOf(0x1d4d0, 0x1d4ea)),
  onBody('circled', 'letters in circles', copyOf(0x24b6, 0x24d0)),
  onBody('squared', 'capitals in squares', (body) => copyOf(0x1f130, 0x1f130)(body)),
  onBody('combining marks', 'a stroke over every second letter', (body) =>
    body.replace(/([A-Za-z])([A-Za-z])/g, '$1\u0336$2'),
  ),
  onBody('zero width', 'a zero-width space in each word', between('\u200b')),
  onBody('zero-width joiner', 'a joiner in each word', between('\u200d')),
  onBody('soft hyphens', 'a soft hyphen in each word', between('\u00ad')),
  onBody('invisible operators', 'an invisible times sign in each word', between('\u2062')),
  onBody('Hangul filler', 'a filler, which is a letter for Unicode, in each word', between('\u3164')),
  onBody('Braille blank', 'blank Braille patterns for spaces', (body) => body.replaceAll(' ', '\u2800')),
  onBody('other spaces', 'spaces of other widths', (body, random) =>
    body.replace(/ /g, () => pick(random, ['\u00a0', '\u2003', '\u2009', '\u202f', '\u3000'])),
  ),
  onBody('bidirectional', 'each word reversed in an override of its direction', (body) =>
    mapWords(body, 3, (word) => `\u202e${[...word].toReversed().join('')}\u202c`),
  ),
  onBody('bidirectional lines', 'each line reversed in an override of its direction', (body) =>
    body
      .split('\n')
      .map((line) => `\u202e${[...line].toReversed().join('')}\u202c`)
      .join('\n'),
  ),
  onBody('tag characters', 'invisible copies of ASCII', (body) => `Hello.${toTags(body)}\n`),
  onBody('variation selectors', 'a byte in each selector after an emoji', (body) => `Hello 😀${toSelectors(body)}\n`),
  onBody('zero-width bits', 'a bit in each of two zero-width characters', (body) => `Hello.${toBits(body)}\n`),
]
