import type { polarities } from '@skillstead/protocol'
import type { Document, Heading } from './document.ts'
import { regex, regexWith } from './regex.ts'

type Polarity = (typeof polarities)[number]

/** The polarity of a passage, and whether it is certain or based on a single sign. */
export interface Stance {
  readonly polarity: Polarity
  readonly isCertain: boolean
}

const imperative: Stance = { polarity: 'imperative', isCertain: true }
const sentenceCharactersMax = 160

/**
 * Determines the polarity of the passage at a position: first from its own sentence, then from its list, table or fence
 * and the line that introduces them, last from the headings above. `isLesson` means that the whole skill is about
 * detecting attacks.
 */
export function toStance(document: Document, offset: number, end: number, isLesson: boolean): Stance {
  const passage = toPassage(document, offset, end)
  if (isProhibited(passage)) return { polarity: 'prohibition', isCertain: true }
  const signs = countSigns(passage, isLesson)
  if (signs === 0) return imperative
  return { polarity: passage.isQuoted ? 'quotation' : 'example', isCertain: signs > 1 }
}

interface Passage {
  /** The line, and the text before and after the position in its sentence, without Markdown marks. */
  readonly line: string
  readonly before: string
  readonly after: string
  /** The line that introduces the list, table or fence. */
  readonly leadIn: string
  readonly lineAbove: string
  readonly headings: readonly Heading[]
  readonly isQuoted: boolean
  readonly isInBackticks: boolean
  readonly isInTable: boolean
  readonly isInFence: boolean
  readonly isInItem: boolean
}

function toPassage(document: Document, offset: number, end: number): Passage {
  const number = document.toLine(offset)
  const line = document.line(number)
  const start = document.lineStart(number)
  const column = offset - start
  const fence = document.fence(number)
  const above = document.line(number - 1)
  const isItem = itemPattern.test(line)
  // A sentence continues from the line above unless it ends there.
  const lead = isItem || fence > 0 || line.startsWith('|') || headingPattern.test(line) ? '' : paragraphEnd(above)
  const raw = `${lead}${document.text.slice(Math.max(start, offset - sentenceCharactersMax), offset)}`
  const behind = document.text.slice(end, end + sentenceCharactersMax).split(/\r?\n\s*\r?\n/, 1)[0]!
  return {
    line,
    before: raw.replace(marksPattern, ' ').split(sentenceEndPattern).at(-1)!,
    after: behind.replace(marksPattern, ' ').split(sentenceEndPattern, 1)[0]!,
    leadIn: findLeadIn(document, number, fence),
    lineAbove: above,
    headings: document.headings(number),
    isQuoted: isQuotedAt(document, line, column, fence),
    isInBackticks: document.isCode(offset),
    isInTable: /^\s*\|/.test(line),
    isInFence: fence > 0,
    isInItem: isItem,
  }
}

const itemPattern = /^\s*(?:[-*+]|\d{1,3}[.)])\s/
const headingPattern = /^\s*#{1,6}\s/
const marksPattern = /[*_`~]+/g
const sentenceEndPattern = /[.!?](?:\s|$)|[;\u2013]/

function paragraphEnd(line: string): string {
  const isText = line !== '' && !headingPattern.test(line) && !/[.:!?|]\s*$/.test(line) && !/^\s*(?:```|~~~)/.test(line)
  return isText ? `${line.slice(-sentenceCharactersMax)} ` : ''
}

/** In a program, quotes are no quotation; but a line that is only a string is an entry of a list. */
function isQuotedAt(document: Document, line: string, column: number, fence: number): boolean {
  if (!document.isMarkdown || fence > 0) return stringLinePattern.test(line)
  return isInQuotes(line, column) || /^\s*>/.test(line)
}

const stringLinePattern = regex`^\s*([-*]\s|"[\w -]{1,40}"\s?:\s?)?\[?[rbu]{0,2}
  (?<quote>["'\x60])((?!\k<quote>).){1,400}\k<quote>\s*\]?[,;]?\s*(#.*|//.*)?$`

/** Whether the position is between quotation marks: an odd number before it, and one after it. */
function isInQuotes(line: string, column: number): boolean {
  const before = line.slice(0, column)
  return quotes.some(([open, close]) => {
    const opened = before.split(open).length - 1 - (open === close ? 0 : before.split(close).length - 1)
    return opened % 2 === 1 && line.indexOf(close, column) !== -1
  })
}

const quotes = [
  ['"', '"'],
  ['`', '`'],
  ['\u201c', '\u201d'],
  ['\u00ab', '\u00bb'],
  ['\u300c', '\u300d'],
] as const

const leadInLinesMax = 14

/** The nearest line above and outside of the list, table or fence that introduces it, for example with a colon. */
function findLeadIn(document: Document, number: number, fence: number): string {
  if (fence > 0) return nearestText(document, fence - 1)
  const line = document.line(number)
  if (!itemPattern.test(line) && !/^\s*[|>]/.test(line) && !/^\s*["'`]/.test(line)) return ''
  const indent = line.search(/\S/)
  for (let above = number - 1; above > Math.max(0, number - leadInLinesMax); above--) {
    const text = document.line(above, 300)
    if (headingPattern.test(text)) return ''
    const isOuter = itemPattern.test(text) && text.search(/\S/) < indent
    if (isOuter || (text !== '' && !itemPattern.test(text) && !/^\s*[|>]/.test(text))) return text
  }
  return ''
}

function nearestText(document: Document, from: number): string {
  for (let line = from; line > Math.max(0, from - 3); line--) {
    const text = document.line(line, 300)
    if (text.trim() !== '') return headingPattern.test(text) ? '' : text
  }
  return ''
}

const forbiddancePattern = regexWith('i')`\b(never|do not|don[\u2019']?t|must ?n[o\u2019']t|
  should ?n[o\u2019']t|may not|can ?not|can[\u2019']t|will not|won[\u2019']t|does not|doesn[\u2019']t|is not|are not
  |avoid(s|ing)?|refuses?|refuse to|rather than|instead of|forbidden|prohibited|not allowed|no need|block(s|ed)?|
  den(y|ies)|reject(s|ed)?)\b(?! (hesitate|fail|forget|worry|stop|mind|skip|omit|miss|leave|refuse|delay|wait|only|
  just))`
/** Chinese words of prohibition directly before the position. */
const chineseForbiddance = regex`(不(要|得|可|能|准|许|許|应|應|运行|運行|执行|執行|使用|删除|刪除)|禁止|请勿|請勿|切勿|严禁|嚴禁|
  避免|拒绝|拒絕|绝不|絕不)(?!犹豫|猶豫|担心|擔心|忘|错过|錯過|停)[^，。；：、,.:;！!]{0,8}$`
/** Words after a prohibition that introduce an alternative. */
const turnPattern = /\b(?:but|instead|then|just|simply|rather|so)\b|[,:]\s/i
const forbiddingHeadings = regexWith('i')`\b(never|do(es)? not|don[\u2019']?t|forbidden|
  prohibited|not allowed|disallowed|denied|deny|blocked|avoid|anti-?patterns?|must not|banned|off[- ]limits|
  boundar(y|ies)|won[\u2019']t)\b`
const forbiddingLeadIn = regexWith('i')`\b(never|(do|does|will|must|should|may|can) ?not|
  don[\u2019']?t|forbidden|prohibited|not allowed|disallowed|avoid|refuse|reject|block|deny|denied)\b[^.]{0,80}:?\s*
  [*_]{0,3}\s*$`
const denyListPattern = regexWith('i')`["']?(deny|denied|denylist|deny_list|blocklist|
  block_list|blocked|blacklist|disallowed_?tools|forbidden|prohibited)["']?\s*[:=]\s*[[{(]?`
const negativeMark = regexWith('iu')`[\u274c\u26d4\u{1f6ab}\u2717\u2718]|
  (^|[\s#/*(-])(bad|wrong|incorrect|unsafe|insecure|vulnerable|dangerous|malicious|evil|attack|attacker|
  don[\u2019']?t|never|not this|anti-?pattern)\b\s?([:)\u2014]|-(?!\w)|$|example|code|skill|input|payload|version)`

function isProhibited({ before, leadIn, headings, line, isInItem, isInTable, isInFence }: Passage): boolean {
  const forbidden = forbiddancePattern.exec(before)
  if (forbidden && !turnPattern.test(before.slice(forbidden.index + forbidden[0].length))) return true
  if (chineseForbiddance.test(before)) return true
  if (isInFence) return false
  if ((isInItem || isInTable) && forbiddingLeadIn.test(leadIn)) return true
  if (denyListPattern.test(line)) return true
  return isInItem && forbiddingHeadings.test(headings[0]?.title ?? '')
}

const attackHeadings = regexWith('i')`\b(attack(s|er|ers)?|threats?|red flags?|malicious|
  suspicious|injections?|vulnerab\w+|exploit\w*|unsafe|insecure|danger\w*|detect\w*|adversar\w+|jailbreak\w*|
  warning signs?|indicators?|flags?|looks? for|smells?|violations?|payloads?|abuse|poisoning|exfiltration|tampering|
  bad examples?|incorrect|wrong)\b`
/** Words that show that the text after them is mentioned, not instructed. */
const mentionPattern = regexWith('i')`\b(such as|e\.g|for example|phrases?|keywords?|
  patterns? (like|such)|detect\w*|flag(s|ged|ging)?|look(s|ing)? for|search(es|ing)? for|scan(s|ning)?|grep|
  check(s|ing)? (for|whether|if)|reject\w*|block(s|ed|ing)?|refus\w+|treat|attempt\w*|tr(y|ies|ying) to|attacks?|
  adversar\w+|malicious|suspicious|inject\w+|vulnerab\w+|untrusted|pretend\w*)\b`
/** Words that show a mention only before a quotation. */
const quotingPattern = regexWith('i')`\b(like|strings?|report(s|ed)?|match(es|ing)?|
  contain(s|ing)?|claims?|says?|said|asks?|tells?|instructs?|if (a|an|any|the|some|you see)|could|might|may|would|
  means?|called|reads|includ(es|ing)|or)\b|[:=]\s*$`
const attackWords = regexWith('i')`\b(attack\w*|adversar\w+|malicious|injections?|
  jailbreak\w*|exploit\w*|vulnerab\w+|red flags?|suspicious|untrusted|poison\w*|hostile|phishing|scam\w*)\b`

/** Counts the signs that the passage is an example and not an instruction. */
function countSigns(passage: Passage, isLesson: boolean): number {
  const { line, before, after, leadIn, lineAbove, headings } = passage
  const { isQuoted, isInBackticks, isInTable, isInFence, isInItem } = passage
  // Code between backticks may be a command to run, so backticks are no sign of a mention.
  const isSaid = isQuoted && !isInBackticks && quotingPattern.test(before)
  const isMention = isSaid || mentionPattern.test(before) || attackWords.test(isQuoted ? afterQuote(after) : after)
  // The top heading counts only in a lesson, because it is the skill's name, which its author chooses.
  const isUnderAttacks = headings.some(({ title, level }) => (level > 1 || isLesson) && attackHeadings.test(title))
  const isLed = attackWords.test(leadIn) || negativeMark.test(leadIn) || mentionPattern.test(leadIn.slice(-60))
  const isMarked = negativeMark.test(line) || ((isInFence || isInItem) && negativeMark.test(lineAbove))
  const signs = [
    isMention,
    isMention && isQuoted,
    isUnderAttacks,
    isUnderAttacks && (isQuoted || isInTable),
    isLed && (isInFence || isInItem || isQuoted),
    isMarked,
    isMarked,
    (isInFence || isInItem) && negativeMark.test(leadIn),
    isLesson && isQuoted,
    isLesson && (isInTable || isInFence || isUnderAttacks || isLed),
  ]
  return signs.filter(Boolean).length
}

/** The text after the end of the quotation. */
function afterQuote(after: string): string {
  return after.slice(after.search(/["\u201d\u00bb\u300d]/) + 1)
}

const lessonPattern = regexWith('gi')`\b(security|secure|vulnerab\w+|audit\w*|threats?|
  injections?|malicious|attack\w*|red[- ]team\w*|pen[- ]?test\w*|scan(s|ner|ning)?|guard\w*|safety|hardening|
  forensic\w*)\b`

/** Whether the whole skill, by its name, description and first heading, is about detecting attacks. */
export function isLessonOf(skillMd: string): boolean {
  const head = skillMd.slice(0, 1500).split(/\n#{2,6}\s/, 1)[0]!
  return new Set(head.match(lessonPattern)?.map((word) => word.toLowerCase())).size >= 2
}
