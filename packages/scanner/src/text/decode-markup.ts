import type { Encoded } from './decode.ts'
import { countMatches, findPlace, toPassages } from './text-passages.ts'

const inlineNames =
  'b|i|u|s|em|strong|span|a|font|mark|small|big|sub|sup|code|kbd|wbr|ins|del|bdi|bdo|q|abbr|tt|label|tspan'
const inlineTag = String.raw`</?(?:${inlineNames}|w:\w{1,20})(?:\s[^<>]{0,200})?/?>`
const comment = String.raw`<!--[^]{0,200}?-->|/\*[^*]{0,80}\*/`
const link = String.raw`\]\([^()\s]{0,200}\)`
const formula = String.raw`\\(?:text|mathrm|mathbf|mathit|mathsf|textbf|textit|textrm|operatorname)\{`
const tag = String.raw`<[a-z/!?][^<>]{0,400}>`

/** Marks between the letters of a word, and words that have marks of their own. */
const inWords = new RegExp(`[A-Za-z](?:${inlineTag}|${comment}|${link}\\[?)+[A-Za-z]`, 'gi')
const aroundWords = new RegExp(
  [
    String.raw`>\s?[^<>\s]{1,60}\s?(?:${tag}\s?){2,6}[^<>\s]{1,60}\s?<`,
    String.raw`\[[^\s\]]{1,40}${link}\s\[[^\s\]]{1,40}${link}`,
    String.raw`${formula}[^{}\s]{1,40}\}\$?\s\$?${formula}`,
  ].join('|'),
  'gi',
)
const rows = /^\|(?:[ \t]*[^\s|]{1,60}[ \t]*\|){6}/gm
const inWordsMin = 2
const aroundWordsMin = 3

/** Escapes that Markdown needs at most at the beginning of a line, and no expression needs. */
const escapes = /\\[!"#%&',:;<=>@~`-]/g
const escapesMin = 3

/** Characters of a text that must occur for any of the marks. */
const marksPattern = /<[A-Za-z/!]|\/\*|\]\(|\\[A-Za-z!"#%&',:;<=>@~`-]|^\|/m

/** Finds passages whose words are split or separated by marks of Markdown, HTML, XML or TeX, and removes the marks. */
export function* findMarkedUp(text: string): Generator<Encoded> {
  if (!marksPattern.test(text)) return
  const isSplit = countMatches(text, inWords, inWordsMin) === inWordsMin
  const isApart =
    countMatches(text, aroundWords, aroundWordsMin) === aroundWordsMin ||
    (text.includes('|') && countMatches(text, rows, 1) === 1)
  const isEscaped = text.includes('\\') && countMatches(text, escapes, escapesMin) === escapesMin
  if (!isSplit && !isApart && !isEscaped) return
  for (const passage of toPassages(text)) {
    const has = (pattern: RegExp, times: number) => countMatches(passage.text, pattern, times) === times
    const isHidden = isSplit && has(inWords, inWordsMin)
    const sign = isHidden
      ? inWords
      : [...(isApart ? [aroundWords, rows] : []), ...(isEscaped ? [escapes] : [])].find((each) =>
          has(each, each === escapes ? escapesMin : 1),
        )
    if (!sign) continue
    const plain = (sign === escapes ? passage.text : removeMarks(passage.text)).replace(/\\(?=[!-/:-@[-`{-~])/g, '')
    if (plain !== passage.text) {
      yield {
        text: plain,
        spelled: passage.text,
        start: findPlace(passage, sign),
        end: passage.end,
        form: 'markup',
        isHidden,
      }
    }
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

const inlineMarks = new RegExp(
  String.raw`(?!</w:p>)${inlineTag}|${comment}|${link}|\[(?=[^\]]{1,80}\]\()|\$?${formula}|\}\$`,
  'gi',
)
const blockMarks = new RegExp(String.raw`${tag}|<!\[CDATA\[|\]\]>|(?<=\s|^)\||\|(?=\s|$)`, 'gim')
