import type { Encoded } from './encoded.ts'

/** A spelling of words that an agent reads as usual and an expression does not. */
interface Spelling {
  readonly form: string
  /** A faster test than that of the signs, which fails for most texts. */
  mayHave?(text: string): boolean
  /** A passage is read again if it has so many of these. */
  readonly sign: RegExp
  readonly signsMin: number
  /** Whether the spelling has a legitimate use. */
  readonly isUsual: boolean
  /** Returns the usual spelling. */
  read(passage: string): string
}

const inlineNames =
  'b|i|u|s|em|strong|span|a|font|mark|small|big|sub|sup|code|kbd|wbr|ins|del|bdi|bdo|q|abbr|tt|label|tspan'
const inlineTag = String.raw`</?(?:${inlineNames}|w:\w{1,20})(?:\s[^<>]{0,200})?/?>`
const comment = String.raw`<!--[^]{0,200}?-->|/\*[^*]{0,80}\*/`
const tag = String.raw`<[a-z/!?][^<>]{0,400}>`
const inlineMarks = new RegExp(`(?!</w:p>)${inlineTag}|${comment}`, 'gi')
const blockMarks = new RegExp(String.raw`${tag}|<!\[CDATA\[|\]\]>`, 'gi')
const markup = { form: 'markup', read: removeMarks } as const

/** Words of sentences and commands from their end, and in ROT13, that occur in no other text. */
const reversedWords =
  /(?<![a-z])(?:eht|dna|lla|ruoy|morf|htiw|siht|elif|nur|resu)(?![a-z])|ptth|lruc|hsab|tegw|noit|erongi/gi
const rotatedWords =
  /(?<![a-z])(?:gur|naq|nyy|lbhe|sebz|jvgu|guvf|svyr|eha|hfre)(?![a-z])|uggcf?:|phey|onfu|jtrg|gvba|vtaber/gi

const spellings: readonly Spelling[] = [
  {
    ...markup,
    sign: new RegExp(`[A-Za-z](?:${inlineTag}|${comment})+[A-Za-z]`, 'gi'),
    signsMin: 2,
    isUsual: false,
  },
  {
    ...markup,
    sign: new RegExp(String.raw`>\s?[^<>\s]{1,60}\s?(?:${tag}\s?){2,6}[^<>\s]{1,60}\s?<`, 'gi'),
    signsMin: 3,
    isUsual: true,
  },
  {
    form: 'reversed',
    mayHave: (text) => / (?:eht|dna|htiw) /.test(text) || text.includes('//:'),
    sign: reversedWords,
    signsMin: 2,
    isUsual: false,
    read: (passage) => passage.split('\n').map(reverse).join('\n'),
  },
  {
    form: 'rot13',
    mayHave: (text) => / (?:gur|naq|jvgu) /.test(text) || text.includes('uggc'),
    sign: rotatedWords,
    signsMin: 2,
    isUsual: false,
    read: (passage) => passage.replace(/[a-z]/gi, rotate),
  },
]

/** Finds passages in unusual spellings: words that markup splits or separates, and sentences reversed or in ROT13. */
export function* findSpelled(text: string): Generator<Encoded> {
  for (const { form, mayHave, sign, signsMin, isUsual, read } of spellings) {
    if (mayHave?.(text) === false || !hasSigns(text, sign, signsMin)) continue
    for (const { start, passage } of toPassages(text)) {
      if (!hasSigns(passage, sign, signsMin)) continue
      const place = { start: start + passage.search(sign), end: start + passage.length }
      yield { text: read(passage), spelled: passage, ...place, form, isUsual }
    }
  }
}

function hasSigns(text: string, sign: RegExp, signsMin: number): boolean {
  let count = 0
  sign.lastIndex = 0
  while (count < signsMin && sign.test(text)) count++
  return count === signsMin
}

/** Longest passage that is read at once, and its overlap with the next. */
const passageCharactersMax = 16_384
const overlapCharacters = 512

/** Cuts a text at its blank lines, and longer passages into overlapping pieces. */
function* toPassages(text: string): Generator<{ start: number; passage: string }> {
  let start = 0
  for (const part of text.split(/(\n\s*\n)/)) {
    for (let at = 0; at < part.length; at += passageCharactersMax - overlapCharacters) {
      yield { start: start + at, passage: part.slice(at, at + passageCharactersMax) }
      if (at + passageCharactersMax >= part.length) break
    }
    start += part.length
  }
}

function removeMarks(passage: string): string {
  return passage
    .replace(inlineMarks, '')
    .replace(blockMarks, ' ')
    .replace(/&(?:amp|#38);/g, '&')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/[ \t]{2,}/g, ' ')
}

function reverse(text: string): string {
  return [...text].toReversed().join('')
}

function rotate(letter: string): string {
  const first = letter <= 'Z' ? 65 : 97
  return String.fromCharCode(((letter.charCodeAt(0) - first + 13) % 26) + first)
}
