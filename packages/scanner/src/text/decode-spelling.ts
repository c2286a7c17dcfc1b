import type { Encoded } from './decode.ts'
import type { Match } from './spans.ts'
import { countMatches, findPlace, toPassages } from './text-passages.ts'

/** A spelling of words that an agent reads as usual and a pattern does not. */
interface Spelling {
  readonly form: string
  /** A passage is read again if it has so many of these. */
  readonly sign: RegExp
  readonly signsMin: number
  /** A faster test than that of the signs, which fails for most texts. */
  mayHave?(text: string, marks: ReadonlySet<string>): boolean
  /** Whether the spelling has no legitimate use. */
  readonly isHidden: boolean
  /** Returns the usual spelling; undefined if this passage needs none. */
  read(passage: string): string | undefined
}

const leetLetters: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  '@': 'a',
  $: 's',
}
/** Minimum share of words with digits among their letters. */
const leetShareMin = 0.25
const englishWords = /\b(?:the|and|all|any|your|you|of|to|this|that|with|from|for|is|are|not)\b/gi
/** Marks of commands and programs. */
const codeMarks = /[(){}=;$|]/g
const reversedWords =
  /(?<![a-z])(?:eht|dna|lla|ruoy|morf|htiw|siht|elif|nur|resu)(?![a-z])|ptth|lruc|hsab|tegw|noit|erongi/gi

/** Strings of which one occurs in reversed sentences or commands. */
export const reversedMarks = [
  ' eht ',
  ' dna ',
  'htiw ',
  ' llA',
  'ptth',
  'lruc',
  'hsab',
  'tegw',
  'noitc',
  'snoit',
  'erongi',
] as const

const spellings: readonly Spelling[] = [
  {
    form: 'spaced-letters',
    sign: /[ .·*_-][A-Za-z]([ .·*_-])[A-Za-z]\1[A-Za-z]\1[A-Za-z]\1/g,
    signsMin: 1,
    isHidden: true,
    read: (passage) =>
      passage
        .replace(
          /(?<![A-Za-z])[A-Za-z]([ .·*_-])[A-Za-z](?![A-Za-z])(?:\1[A-Za-z](?![A-Za-z]))*/g,
          (found, mark: string) => found.replaceAll(mark, ''),
        )
        .replace(/ {2,}/g, ' '),
  },
  // Not in hexadecimal digits.
  {
    form: 'leet',
    sign: /[g-z][013457][a-z]|[a-z][013457][g-z]/gi,
    signsMin: 3,
    isHidden: true,
    // Begins with a digit, which is rarer than a letter.
    mayHave: (text) => countMatches(text, /[013457](?<=[a-z].)(?=[a-z])/gi, 3) === 3,
    read: readLeet,
  },
  {
    form: 'accents',
    sign: /[\u00c0-\u024f\u1e00-\u1eff]/g,
    signsMin: 3,
    isHidden: false,
    read: (passage) => {
      const plain = passage.normalize('NFD').replace(/[\u0300-\u036f]/g, '')
      const isRead = countMatches(plain, englishWords, 2) === 2 || countMatches(plain, codeMarks, 4) === 4
      return isRead ? plain : undefined
    },
  },
  {
    form: 'reversed',
    sign: reversedWords,
    signsMin: 2,
    isHidden: true,
    mayHave: (_, marks) => reversedMarks.some((mark) => marks.has(mark)),
    read: (passage) => passage.split('\n').map(reverse).join('\n'),
  },
  {
    form: 'reversed',
    sign: reversedWords,
    signsMin: 2,
    isHidden: true,
    mayHave: (_, marks) => reversedMarks.some((mark) => marks.has(mark)),
    read: (passage) => passage.replace(/[A-Za-z]+/g, reverse),
  },
  {
    form: 'bidirectional',
    sign: /\u202e/g,
    signsMin: 1,
    isHidden: true,
    read: (passage) => passage.replace(/\u202e([^\n\u202c]*)\u202c?/g, (_, inner: string) => reverse(inner)),
  },
  {
    form: 'hyphenation',
    sign: /[a-z]-\r?\n[ \t]*[a-z]/g,
    signsMin: 3,
    isHidden: false,
    mayHave: (text) => text.includes('-\n') || text.includes('-\r\n'),
    read: (passage) => passage.replace(/(?<=[a-z])-\r?\n[ \t]*(?=[a-z])/g, ''),
  },
  {
    form: 'short-lines',
    sign: /(?:^[ \t]*(?![-*+#>|"'`\d{}[\]])\S{1,60}(?: \S{1,24})?[ \t]*\r?\n){6}/gm,
    signsMin: 1,
    isHidden: false,
    mayHave: hasShortLines,
    read: (passage) => passage.replace(/\s*\n\s*/g, ' '),
  },
]

/** Finds passages in unusual spellings: letters apart, reversed, as digits or with accents, and words on lines of their own. */
export function* findSpelled(text: string, marks: ReadonlySet<string>): Generator<Encoded> {
  for (const { form, sign, signsMin, isHidden, mayHave, read } of spellings) {
    if (mayHave?.(text, marks) === false) continue
    if (countMatches(text, sign, signsMin) < signsMin) continue
    for (const passage of toPassages(text)) {
      if (countMatches(passage.text, sign, signsMin) < signsMin) continue
      const plain = read(passage.text)
      if (plain === undefined || plain === passage.text) continue
      yield { text: plain, spelled: passage.text, start: findPlace(passage, sign), end: passage.end, form, isHidden }
    }
  }
}

const shortLinesMin = 6

/** Whether lines of at most two words follow each other, of which the first does not begin with a mark of a list or code. */
function hasShortLines(text: string): boolean {
  let count = 0
  for (let start = 0; start < text.length && count < shortLinesMin;) {
    const next = text.indexOf('\n', start)
    const end = next === -1 ? text.length : next
    count = isShortLine(text, start, end) ? count + 1 : 0
    start = end + 1
  }
  return count >= shortLinesMin
}

const shortLineCharactersMax = 90
const notInProse = new Set([...'-*+#>|"\'`{}[]0123456789'].map((mark) => mark.charCodeAt(0)))

function isShortLine(text: string, start: number, end: number): boolean {
  if (end - start > shortLineCharactersMax) return false
  let words = 0
  for (let at = start; at < end; at++) {
    const isStart = text.charCodeAt(at) > 32 && (at === start || text.charCodeAt(at - 1) <= 32)
    if (isStart && (++words > 2 || (words === 1 && notInProse.has(text.charCodeAt(at))))) return false
  }
  return words > 0
}

function readLeet(passage: string): string | undefined {
  const words = passage.match(/[A-Za-z\d@$]{2,}/g) ?? []
  const spelled = words.filter((word) => /[A-Za-z]/.test(word) && /[013457]/.test(word))
  if (spelled.length < words.length * leetShareMin) return undefined
  return passage.replace(/(?=[\d@$]*[A-Za-z])[A-Za-z\d@$]{2,}/g, (word) =>
    word.replace(/[013457@$]/g, (digit) => leetLetters[digit]!),
  )
}

function reverse(text: string): string {
  return [...text].toReversed().join('')
}

/** Frequency of the letters in English, in percent, and the mean of their logarithms over a text of uniform letters. */
const percents = [
  8.2, 1.5, 2.8, 4.3, 12.7, 2.2, 2, 6.1, 7, 0.15, 0.77, 4, 2.4, 6.7, 7.5, 1.9, 0.1, 6, 6.3, 9.1, 2.8, 0.98, 2.4, 0.15,
  2, 0.07,
]
const weights = percents.map((percent) => Math.log(percent / 100))
const lettersMin = 40
const differentMin = 9
/** A text of this mean weight is English, and one that wins this much by another alphabet was not. */
const englishMin = -3.15
const gainMin = 0.25

/** For each letter, the letter that it stands for: moved by 1 to 25, or in the reversed alphabet. */
const alphabets: readonly (readonly number[])[] = [
  ...Array.from({ length: 25 }, (_, by) => Array.from({ length: 26 }, (__, letter) => (letter + by + 1) % 26)),
  Array.from({ length: 26 }, (_, letter) => 25 - letter),
]

/** Commands and names next to a sentence have too few letters of English to be recognised themselves. */
const aroundCharacters = 2000

/** Finds English with another alphabet: letters moved by some number, or the alphabet reversed. */
export function* findShifted(text: string, _: unknown, units: Uint16Array): Generator<Encoded> {
  let last = 0
  for (const { start, end } of findForeign(units)) {
    const alphabet = end > last && findAlphabet(countLetters(units.subarray(start, end)))
    if (!alphabet) continue
    const from = Math.max(last, start - aroundCharacters)
    last = Math.min(text.length, end + aroundCharacters)
    const spelled = text.slice(from, last)
    const plain = spelled.replace(/[A-Za-z]/g, (letter) => {
      const first = letter <= 'Z' ? 65 : 97
      return String.fromCharCode(first + alphabet[letter.charCodeAt(0) - first]!)
    })
    yield { text: plain, spelled, start, end: last, form: 'other-alphabet', isHidden: true }
  }
}

const lineEnd = 10
/** 1 for letters. */
const isLetter = new Uint8Array(256)
/** By how much a letter raises the mean weight above that of English: whole numbers are added faster. */
const gainOf = new Int32Array(256)
for (const [letter, weight] of weights.entries()) {
  for (const code of [65 + letter, 97 + letter]) {
    isLetter[code] = 1
    gainOf[code] = Math.floor((weight - englishMin) * 1024)
  }
}

/** Finds lines, and short lines of one passage together, that have enough letters and are not English. */
function findForeign(units: Uint16Array): Match[] {
  const found: Match[] = []
  let [start, letters, lineEnds, gain] = [0, 0, 0, 0]
  const textEnd = units.length - 1
  for (let at = 0; at < textEnd; at++) {
    const code = units[at]! & 0xff
    letters += isLetter[code]!
    gain += gainOf[code]!
    if (code !== lineEnd) continue
    const isEnough = letters + lineEnds >= lettersMin
    lineEnds++
    if (!isEnough && (units[at + 1]! & 0xff) !== lineEnd) continue
    if (gain < 0) found.push({ start, end: at })
    start = at
    letters = 0
    lineEnds = 1
    gain = 0
  }
  if (gain < 0) found.push({ start, end: textEnd })
  return found
}

function countLetters(units: Uint16Array): Uint32Array {
  const counts = new Uint32Array(26)
  for (const unit of units) if (isLetter[unit & 0xff] === 1) counts[(unit & 31) - 1]!++
  return counts
}

function findAlphabet(counts: Uint32Array): readonly number[] | undefined {
  let [plain, total, different] = [0, 0, 0]
  for (let letter = 0; letter < 26; letter++) {
    const count = counts[letter]!
    plain += count * weights[letter]!
    total += count
    if (count > 0) different++
  }
  plain /= total
  if (total < lettersMin || plain >= englishMin || different < differentMin) return undefined
  let best: readonly number[] | undefined
  let most = Math.max(englishMin, plain + gainMin)
  for (const alphabet of alphabets) {
    let sum = 0
    for (let letter = 0; letter < 26; letter++) sum += counts[letter]! * weights[alphabet[letter]!]!
    if (sum / total <= most) continue
    most = sum / total
    best = alphabet
  }
  return best
}
