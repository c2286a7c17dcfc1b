/** Maximum length of a query, in UTF-16 units; the rest is ignored. */
export const queryLengthMax = 512
/** Maximum number of terms in a query. */
export const queryTermsMax = 32
/** As `queryLengthMax` and `queryTermsMax`, for the search by need. */
const needLengthMax = 2000
export const needTermsMax = 128
/** Maximum length of a term. Longer terms are truncated, in documents and in queries alike. */
export const termLengthMax = 48
/** Only this much of a field is indexed, in UTF-16 units, so that one enormous skill cannot make publishing slow. */
export const fieldLengthMax = 20_000

/** A parsed query. */
export interface ParsedQuery {
  /** Distinct terms in the typed order; stop words only if there is nothing else. */
  terms: string[]
  /** Whether the last term may be incomplete: no separator follows it. */
  lastIsOpen: boolean
}

const wordPattern = /[\p{L}\p{N}\p{M}]+/gu
/**
 * Scripts whose tokens are pairs of characters, for a character class of a regular expression: those that are written
 * without spaces between words (Unicode Standard Annex 14, classes ID and SA), and Hangul.
 */
export const ideographs =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}'
const ideographRun = new RegExp(`[${ideographs}]+|[^${ideographs}]+`, 'gu')
const isIdeograph = new RegExp(`^[${ideographs}]`, 'u')
// eslint-disable-next-line no-control-regex
const isAscii = /^[\0-\x7f]*$/
// Matches an identifier from its first boundary between parts on: a fifth of the time of matching it whole.
const identifierEnd = /[a-z\d][A-Z][A-Za-z\d]*/g
const identifierCharacter = /[A-Za-z\d]/
const partBoundary = /(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g
const dotNetPattern = /(?<!\w)\.net\b|\.(?:NET|Net)\b/g
const contractionPattern = /['’]s\b|(?<=\w)['’](?:d|ll|m|re|ve)\b/g
// Chinese and Japanese use commas where English would end a sentence.
const sentenceEnd = /[.!?;:](?=\s|$)|[\n\r。！？；：，、]+/u

/**
 * Splits a text into words: lower case, without accents, possessives or punctuation. Scripts without spaces become
 * overlapping pairs of characters; the last character of such a run is also a token, so that every character begins a
 * token and a query of one character can be matched by prefix.
 *
 * @example tokenize("Node.js' APIs: 图像生成") // ['node', 'js', 'apis', '图像', '像生', '生成', '成']
 */
export function tokenize(text: string): string[] {
  return wordsOf(addUmlautForms(text.slice(0, fieldLengthMax)), true)
}

/** The tokens of each sentence or line, for scoring words that are close together. Empty sentences are left out. */
export function tokenizeSentences(text: string): string[][] {
  return addUmlautForms(text.slice(0, fieldLengthMax))
    .split(sentenceEnd)
    .map((sentence) => wordsOf(sentence, true))
    .filter((words) => words.length > 0)
}

/**
 * The distinct words of a query for the search by need, without stop words. More words count than in {@link
 * parseQuery}, because a described need is long. Returns at most the first `termsMax` words; `isCut`: whether a part of
 * the query was left out. Never throws.
 */
export function parseNeed(q: string, termsMax = needTermsMax): { words: string[]; isCut: boolean } {
  const all = [...new Set(wordsOf(q.slice(0, needLengthMax), false))]
  const words = all.filter((word) => !stopWords.has(word) && !needStopWords.has(word))
  return { words: words.slice(0, termsMax), isCut: words.length > termsMax || q.length > needLengthMax }
}

/**
 * Parses the text of a search box. Never throws.
 *
 * @example parseQuery('how to make a PDF') // { terms: ['make', 'pdf'], lastIsOpen: true }
 */
export function parseQuery(q: string): ParsedQuery {
  const bounded = cutQuery(q)
  const words = [...new Set(wordsOf(bounded, false))]
  const telling = words.filter((word) => !stopWords.has(word))
  const terms = (telling.length > 0 ? telling : words).slice(0, queryTermsMax)
  return { terms, lastIsOpen: terms.length > 0 && terms.at(-1) === words.at(-1) && /[\p{L}\p{N}]$/u.test(bounded) }
}

/** The start of a long query without an incomplete last word, which would count as a different, rare word. */
function cutQuery(q: string): string {
  if (q.length <= queryLengthMax) return q
  const start = q.slice(0, queryLengthMax)
  return start.replace(/[A-Za-z\d]+$/, '') || start
}

/** Whether a token is from a script without spaces: one or two of its characters. */
export function isIdeographic(token: string): boolean {
  return isIdeograph.test(token)
}

function wordsOf(text: string, withRunEnds: boolean): string[] {
  const words: string[] = []
  for (const [word] of toFoldedPlainText(text).matchAll(wordPattern)) pushTokens(word, withRunEnds, words)
  return words
}

/**
 * Lower case, without accents, possessives, contractions or invisible characters. The words are the runs of letters,
 * digits and marks in the result. The parts of an identifier such as `useEffect` are added before the identifier. Names
 * that begin with a capital, such as GitHub, stay whole.
 */
export function toFoldedPlainText(text: string): string {
  const folded = isAscii.test(text)
    ? text
    : text
        .normalize('NFKD')
        .replace(leftOutMarks, '')
        .normalize('NFC')
        .replace(/\p{Cf}/gu, '') // invisible characters, such as zero-width spaces
        .replace(/[ßẞæœıٱ]/g, (letter) => otherLetters[letter]!)
  return addIdentifierParts(folded)
    .replace(dotNetPattern, ' dotnet net')
    .toLowerCase()
    .replace(contractionPattern, '')
    .replace(/['’]/g, '')
    .replace(/\b([cf])#/g, '$1sharp')
    .replace(/\bc\+\+/g, 'cpp')
}

/**
 * Marks that people leave out: accents of Latin, Greek and Cyrillic, but not that of й, which is a letter of its own;
 * vowels and hamza forms of Arabic and its tatweel; points of Hebrew. The marks of other scripts are letters.
 */
const leftOutMarks = /(?<![иИ])\u0306|[\u0300-\u0305\u0307-\u036f\u0640[[\p{scx=Arabic}\p{scx=Hebrew}]&&\p{M}]]/gv

/** Letters that Unicode does not decompose, with the letters that people type in place of them. */
const otherLetters: Readonly<Record<string, string>> = { ß: 'ss', ẞ: 'ss', æ: 'ae', œ: 'oe', ı: 'i', ٱ: 'ا' }

/** Adds German words as they are written without umlauts: `Größe` is found by `groesse` as well as by `grosse`. */
export function addUmlautForms(text: string): string {
  if (isAscii.test(text)) return text
  const composed = text.normalize('NFC')
  if (!umlaut.test(composed)) return composed
  // Whole words: a pattern with an umlaut in it would take quadratic time on a long word without one.
  return composed.replace(/\p{L}+/gu, (word) => {
    const other = word.replaceAll(umlauts, (letter) => `${letter.normalize('NFD')[0]!}e`)
    return other === word ? word : `${word} ${other}`
  })
}

const umlaut = /[äöüÄÖÜ]/
const umlauts = /[äöüÄÖÜ]/g

/** Maximum length of an identifier: a longer word is encoded data. */
const identifierLengthMax = 40

function addIdentifierParts(text: string): string {
  let result = ''
  let end = 0
  for (const { 0: tail, index } of text.matchAll(identifierEnd)) {
    let start = index
    while (start > end && identifierCharacter.test(text[start - 1]!)) start--
    const identifier = text.slice(start, index) + tail
    result += text.slice(end, start)
    if (/^[a-z]/.test(identifier) && identifier.length <= identifierLengthMax) {
      result += `${identifier.replace(partBoundary, ' ')} `
    }
    result += identifier
    end = start + identifier.length
  }
  return result + text.slice(end)
}

/** Appends the tokens of one word of a plain text. */
export function pushTokens(word: string, withRunEnds: boolean, words: string[]): void {
  if (isAscii.test(word)) {
    words.push(word.slice(0, termLengthMax))
    return
  }
  for (const [run] of word.matchAll(ideographRun)) {
    if (!isIdeograph.test(run)) {
      words.push(run.slice(0, termLengthMax))
      continue
    }
    const characters = [...run]
    for (let i = 0; i + 1 < characters.length; i++) words.push(characters[i]! + characters[i + 1]!)
    if (withRunEnds || characters.length === 1) words.push(characters.at(-1)!)
  }
}

/**
 * English words without meaning for a search. Stop words are removed from queries but indexed, so that a query of
 * nothing else (`how to`) still finds matches.
 */
const stopWords: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but by ' +
    'can could did do does doing done down during each else etc few for from further get gets had has have having he ' +
    'her here hers him his how i if in into is it its itself just let lets like may me might more most much must my ' +
    'need needs no nor not now of off on once only or other our ours out over own per please s same she should so some ' +
    'such t than that the their theirs them then there these they this those through to too under until up upon us use ' +
    'used user users uses using very via want wants was we were what when where which while who whom whose why will ' +
    'with within without would you your yours'
  ).split(' '),
)

/**
 * More words of described needs that carry no information about the skill. Such words may be parts of a name, so only
 * the search by need ignores them.
 */
const needStopWords: ReadonlySet<string> = new Set(
  // cspell:ignoreWords everybody nobody somebody
  (
    'aint almost already although always among another anyone anything anywhere arent around away became become ' +
    'becomes cannot cant couldnt didnt doesnt dont either enough even ever every everybody everyone everything ' +
    'everywhere hadnt hasnt havent however instead isnt many maybe mine mostly mustnt myself neednt neither never nobody ' +
    'none nothing often one ones otherwise ourselves perhaps quite rather really several shouldnt since somebody someone ' +
    'something somewhere still sure themselves thing things though together toward towards unless usually various wasnt ' +
    'werent whatever whenever whether whole wont wouldnt yet yourself'
  ).split(' '),
)

/** Whether a word has no meaning for a search. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word)
}

/** In a skill's list of words: the end of a sentence, heading or keyword. */
export const sentenceBreak = 0
/** In a skill's list of words: the start of the field whose number is in the lower bits. */
export const fieldMark = 0x4000_0000
