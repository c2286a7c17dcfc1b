import type { polarities } from '@skillstead/protocol'
import type { Document } from '../text/document.ts'
import { regex, regexWith } from '../text/regex.ts'
import { toPassageAround, type Passage } from './passage.ts'

type Polarity = (typeof polarities)[number]

/** The polarity of a passage, and what it is based on. */
export interface Stance {
  readonly polarity: Polarity
  /**
   * - `certain`: its own sentence, or several signs.
   * - `label`: titles and the topic of the skill, which an attacker may choose for an instruction.
   * - `sign`: a single sign.
   */
  readonly basis: 'certain' | 'label' | 'sign'
}

const imperative: Stance = { polarity: 'imperative', basis: 'certain' }

/**
 * Determines the polarity of the passage at a position: first from its own sentence, then from its list, table or fence
 * and the line that introduces them, last from the headings above. `isLesson` means that the whole skill is about
 * detecting attacks.
 */
export function toStance(document: Document, offset: number, end: number, isLesson: boolean): Stance {
  const passage = toPassageAround(document, offset, end)
  if (isProhibitedPassage(passage)) return { polarity: 'prohibition', basis: 'certain' }
  const polarity = passage.isQuoted ? 'quotation' : 'example'
  const { said, placed } = countSigns(passage, isLesson)
  const signs = said + placed
  // Signs in a program are never certain, because comments cost its author nothing.
  if (!document.isMarkdown) return signs > 0 ? { polarity, basis: 'sign' } : imperative
  if (signs > 1 && (said > 0 || !isForUse(passage))) return { polarity, basis: 'certain' }
  if (signs > 1 || isExamined(passage, isLesson)) return { polarity, basis: 'label' }
  return signs > 0 ? { polarity, basis: 'sign' } : imperative
}

const forbiddances = regexWith('gi')`\b((?<order>never|(do|must|should|may) ?n[o\u2019']t|(do|must|should|may) not
  |refuses?|forbidden|prohibited|not allowed|no need|block(s|ed)?|den(y|ies)|reject(s|ed)?)
  |(?<other>avoid(s|ing)?|rather than|instead of)|(can|will|does|is|are) ?not|(can|won|doesn)[\u2019']t)\b
  (?! (hesitate|fail|forget|worry|stop|mind|skip|omit|miss|leave|refuse|delay|wait|only|just))`
/** Chinese words of prohibition directly before the position. */
const chineseForbiddance = regex`(不(要|得|可|能|准|应|使用|运行|执行|删除)|禁止|请勿|切勿|严禁|避免|拒绝|绝不)
  (?!犹豫|担心|忘|错过|停)[^，。；：、,.:;！!]{0,8}$`
/** Words after a prohibition that introduce an alternative. */
const turnPattern = /\b(?:but|instead|then|just|simply|rather|so|without|unless|until|before)\b|[,:]\s/i
/** Titles and introductions of what not to do. */
const forbiddingTitle = regexWith('i')`\b(never|(do|does|will|must|should|may|can) ?not|don[\u2019']?t|
  won[\u2019']t|forbidden|prohibited|not allowed|disallowed|denied|deny|blocked|refuse|reject|avoid|anti-?patterns?|
  banned|off[- ]limits|boundar(y|ies))\b[^.]{0,80}$`
/** An array of strings in settings that lists what is denied. */
const denyArray = regexWith('i')`^\s*[{,]?\s*["'](deny|denied|blocked|disallowed_?tools|forbidden|prohibited|
  (deny|block|black)_?list)["']\s*:\s*\[(\s*["'][^"'$\x60\n]*["']\s*,)*\s*["'][^"'$\x60\n]*$`
const settingsLanguages: ReadonlySet<string> = new Set(['json', 'jsonc', 'json5', 'yaml', 'yml', 'toml'])

function isProhibitedPassage(passage: Passage): boolean {
  const { before, lineBefore, leadIn, headings, language, isInItem, isInTable, isInFence } = passage
  const forbidden = [...before.matchAll(forbiddances)].at(-1)
  if (forbidden && governsWhatFollows(forbidden, before)) return true
  if (chineseForbiddance.test(before)) return true
  if (isInFence) return settingsLanguages.has(language) && denyArray.test(lineBefore)
  if ((isInItem || isInTable) && forbiddingTitle.test(leadIn)) return true
  return isInItem && forbiddingTitle.test(headings[0]?.title ?? '')
}

/**
 * Whether a prohibition is about what follows it: no `but` or the like is between them, and the first verb of use is
 * near enough to the prohibition. A mere negation, as in `if it is not installed`, prohibits only with such a verb.
 */
function governsWhatFollows({ groups, index, 0: words }: RegExpExecArray, before: string): boolean {
  const between = before.slice(index + words.length)
  if (between.trim() === '') return true
  if (turnPattern.test(between)) return false
  const verb = useVerb.exec(between)
  if (!verb) return groups!['order'] !== undefined || groups!['other'] !== undefined
  const wordsMax = groups!['order'] ? 6 : groups!['other'] ? 1 : 0
  return between.slice(0, verb.index).split(/\s+/).filter(Boolean).length <= wordsMax
}

const useVerb = regexWith('i')`\b(run(ning)?|execut(e|ing)|us(e|ing)|past(e|ing)|typ(e|ing)|call(ing)?|start(ing)?
  |read(ing)?|send(ing)?|access(ing)?|delet(e|ing)|install(ing)?|upload(ing)?|requir(e|ing)|need)\b`

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
/** Words that name what is between the backticks after them. */
const namingPattern = /\b(?:phrases?|patterns?|strings?|keywords?|text) (?:such as|like)\s*$/i
const attackWords = regexWith('i')`\b(attack\w*|adversar\w+|malicious|injections?|
  jailbreak\w*|exploit\w*|vulnerab\w+|red[- ]flags?|findings?|suspicious|untrusted|poison\w*|hostile|phishing|scam\w*)\b`
/** A mark or label of what is wrong. */
const negativeMark = regexWith('iu')`[\u274c\u26d4\u{1f6ab}\u2717\u2718]|
  (^|[\s#/*(-])(bad|wrong|incorrect|unsafe|insecure|vulnerable|dangerous|malicious|evil|attack|attacker|
  don[\u2019']?t|never|not this|anti-?pattern)\b\s?([:)\u2014]|-(?!\w)|$|example|code|skill|input|payload|version)`

/**
 * Counts the signs that the passage is an example and not an instruction: `said` are those in its own sentence or line,
 * `placed` those in the headings and lines above it, which cost an attacker nothing.
 */
function countSigns(passage: Passage, isLesson: boolean): { readonly said: number; readonly placed: number } {
  const { lineBefore, lineAfter, before, after, leadIn, lineAbove, headings } = passage
  const { isProse, isQuoted, isInBackticks, isInTable, isInFence, isInItem } = passage
  // Code between backticks may be a command to run, so backticks are no sign of a mention.
  const isSaid = isQuoted && !isInBackticks && quotingPattern.test(before)
  const behind = isQuoted ? after.slice(after.search(/["\u201d\u00bb\u300d]/) + 1) : after
  const isMention = isSaid || mentionPattern.test(before) || attackWords.test(behind)
  const isMarked =
    negativeMark.test(lineBefore) ||
    (isProse && negativeMark.test(lineAfter)) ||
    ((isInFence || isInItem) && negativeMark.test(lineAbove))
  // The top heading counts only in a lesson, because it is the skill's name, which its author chooses.
  const isAmongAttacks = headings.some(({ title, level }) => (level > 1 || isLesson) && attackHeadings.test(title))
  const isLed = attackWords.test(leadIn) || negativeMark.test(leadIn) || mentionPattern.test(leadIn.slice(-60))
  const said =
    Number(isMention) +
    Number(isQuoted && (isInBackticks && !isInFence ? namingPattern.test(before) : isMention)) +
    2 * Number(isMarked)
  const placed = [
    isAmongAttacks,
    isAmongAttacks && (isQuoted || isInTable),
    isLed && (isInFence || isInItem || isQuoted),
    (isInFence || isInItem) && negativeMark.test(leadIn),
    isLesson && isQuoted,
    isLesson && (isInTable || isInFence || isAmongAttacks || isLed),
  ]
  return { said, placed: placed.filter(Boolean).length }
}

const useWords = regexWith('i')`\b(run|execute|install|paste|setup|set up|prerequisites?|quick ?start|usage|
  getting started|first|now|before you|required|must|apply|perform|start)\b`

/** Whether the words around the passage tell the agent or the user to run it. */
function isForUse({ before, leadIn, headings }: Passage): boolean {
  return [before, leadIn, headings[0]?.title ?? ''].some((text) => useWords.test(text))
}

/** Names of functions and commands that examine a text instead of running it. */
const examines = regexWith('i')`(?<![a-z])(contains?|has_any|includes|check|validat|verif|detect|scan|match|
  pattern|regex|test|block|filter|report|sanitiz|analy[sz]|submit|expect|grep|rule)|=~`
const regexString = /\(\?i\)|\.\*|\\b/
/** Names of fields whose content is examined in code about attacks. */
const examined = /(?<![a-z])(?:query|payload|input|prompt|message|uri\b)/i
const runs = regexWith('i')`(^|[\s;&|({])(-c|-e|-command|-enc\w*|eval|exec|source|iex|invoke-\w+|ssh|xargs|env|
  (ba|z|da|k)?sh|node|python3?|perl|ruby|php|powershell|pwsh|cmd)(\s|$)|
  \b(\w*system|popen|spawn\w*|exec\w*|run|call|check_output|check_call|subprocess\w*|shell|eval|fetch|post)\s?[(]|
  [|;&$]\s?[(]?\s*$|\x60`
const outcome = regexWith('iu')`\b(reject\w*|block(ed|s)?|denied|threat|detected|unsafe|safe: false|false|flag(ged)?|
  critical|error|throw|raise|malicious|attack\w*|injection)\b|\u274c|\u{1f6a8}`

/**
 * Whether the passage is in a string that code examines: the code before the string shows it, and either an outcome is
 * named near it, or the skill or a heading is about attacks. False for a string that is run or has values inserted.
 */
function isExamined({ line, lineBelow, call, string, language, headings }: Passage, isLesson: boolean): boolean {
  if (call === undefined || runs.test(call) || /\bf$/i.test(call)) return false
  const isShell = /^(?:|sh|bash|zsh|shell|console|terminal)$/.test(language) && !/:\s*$/.test(call)
  if (isShell && /\$\(|\x60/.test(string)) return false
  const isAboutAttacks = isLesson || headings.some(({ title }) => attackWords.test(title))
  if (isAboutAttacks && examined.test(call)) return true
  if (!examines.test(call) && !regexString.test(string)) return false
  return isAboutAttacks || outcome.test(`${line.slice(-80)}\n${lineBelow}`)
}

const lessonPattern = regexWith('gi')`\b((cyber-?)?security|secure|malware|mitre|soc|incidents?|vulnerab\w+|audit\w*|
  threats?|injections?|malicious|attack\w*|red[- ]team\w*|pen[- ]?test\w*|scan(s|ner|ning)?|guard\w*|safety|hardening|
  forensic\w*)\b`

/** Whether the whole skill, by its name, description and first heading, is about detecting attacks. */
export function isLessonOf(skillMd: string): boolean {
  const head = skillMd.slice(0, 1500).split(/\n#{2,6}\s/, 1)[0]!
  return new Set(head.match(lessonPattern)?.map((word) => word.toLowerCase())).size >= 2
}
