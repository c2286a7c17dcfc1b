import type { Passage } from './passage.ts'
import { regex, regexWith } from '../text/regex.ts'

/** What a title of examples ends with; "Avoid errors" is none. */
const titleEnd = regex`(s|:|\s[(]|\s?$|\s(examples?|code|patterns?|approach|practices?|ways?|usage)\b)`
/** Titles of bad examples, and of the good examples next to them. */
const badTitle = regexWith('iu')`^\W*(bad|wrong|incorrect|don[\u2019']?t|avoid|anti-?pattern|not like this)${titleEnd}|
  ^\W{0,4}[\u274c\u26d4\u{1f6ab}\u2717\u2718]`
const goodTitle = regexWith('iu')`^\W*(good|right|correct|do|better|instead|preferred|fixed)${titleEnd}|
  ^\W{0,4}[\u2705\u2713\u2714]`

/**
 * Whether the passage is among bad examples. The good ones must be next to them: a heading alone costs an attacker
 * nothing, but a reader who is shown both knows which one not to follow.
 */
export function isBadExample({ headings, siblings }: Passage): boolean {
  const [nearest] = headings
  return nearest !== undefined && badTitle.test(nearest.title) && siblings.some((title) => goodTitle.test(title))
}

/** Whether the passage is in the column of a table that lists what not to do, next to what to do. */
export function isInBadColumn({ column, columns }: Passage): boolean {
  return badTitle.test(column) && columns.some((title) => goodTitle.test(title))
}

const attackerActs = regexWith('i')`\b(attackers?|adversar(y|ies)|threat actors?|hackers?|intruders?|criminals?|
  malware|ransomware|insiders?|csrf|xss|ssrf|clickjacking|(cross-site request )?forgery( \(\w+\))?)\s
  (can|could|may|might|will|would|often|us(e|es|ing)|abus(e|es)|sends?|tr(y|ies)|inputs?|injects?|
  crafts?|exploits?|tricks?|rel(y|ies)|leverages?|attempts?|deploys?)\b[^,:]{0,120}:?\s*$`
/** Words after which a sentence about others may tell the agent what to do. */
const turn = /\b(?:so|then|instead|therefore|but|to (?:avoid|prevent|fix)|run|execute|open)\b/i
const mayHappen = regexWith('i')`\b(can|could|may|might)\s+(also\s+)?(\w+\s+){0,3}$|
  \b(can|could|may|might)\s[^.;:]{0,60}\b(and|or|to)\s+$|\u53ef\u80fd\S{0,6}\s*$`
const actsOnRequest = regexWith(
  'i',
)`\b(you|we|i|agents?|assistants?|claude|skills?|tools?|please|must|should|needs?|requires?)\b`
const riskPattern = regexWith('i')`\b(risks?|threats?|damages?|harm|dangers?|dangerous|destructive|limitations?|
  vulnerabilit(y|ies)|weakness(es)?|misuse|abuse|guarantee)\b|
  \u5371\u9669|\u98ce\u9669|\u635f\u5bb3|\u7834\u574f|\u653b\u51fb|\u5a01\u80c1`
const failurePattern = regexWith('i')`\b(gotchas?|anti-?patterns?|pitfalls?|mistakes?|problems?|errors?|
  fail(s|ed|ing|ures?)?|symptoms?|silently|detection hints?|what goes wrong|why it matters)\b`
const failsAlone = regexWith('i')`\b(causes|fails|breaks|closes|exits|drops|skips|misses|loses|swallows|ignores)\b`
const thirdPerson = regexWith('i')`${failsAlone}|\b(that|which) $|\bis (0|zero|null|empty|missing|not)\b|
  \b(orgs|organi[sz]ations|users|pages|pipelines|teams|owners) (will|can|may|would)\b`
/** What follows the verb of a statement, or is that verb: no command begins like this. */
const stated = /^(?:without|with no|giving|make no|[a-z]{4,}s)\s/i
/** What an avowal of harm would say instead of a failure. */
const harmfulVerb = regexWith('i')`\b(send|upload|post|transmit|collect|copy|copies|forward|share|export|record|log|
  install|run|execute|delete|modif(y|ies)|access|read|stor|monitor|track|exfiltrat)\w{0,3}\b`

/** Whether the passage describes what others do, what may happen, or a failure, so that it asks the agent for nothing. */
export function isDescription({ text, before, label, leadIn, headings, isInFence, isInItem }: Passage): boolean {
  if (isInFence) return false
  if (actsOnRequest.test(before) || turn.test(before)) return false
  if (attackerActs.test(before)) return true
  const title = headings[0]?.title ?? ''
  const titles = [label, leadIn, title].join('\n')
  if (riskPattern.test(titles) && mayHappen.test(before)) return true
  const isFailure = failurePattern.test(titles) ? thirdPerson.test(before) : /\bsilently\b/i.test(before)
  if (isFailure && stated.test(text) && (failsAlone.test(before) || failurePattern.test(titles))) {
    return !harmfulVerb.test(before)
  }
  // A list of risks names acts: "Purging audit logs".
  return isInItem && /^\w+ing\s/.test(text) && headings.some((each) => riskPattern.test(each.title))
}

/** Names of functions and commands that examine a text instead of running it. */
const examines = regexWith(
  'i',
)`(?<![a-z])(contains?|has_any|includes|check|validat|verif|detect|scan|match|pattern|regex|
  test|block|den(y|ied)|filter|report|sanitiz|analy[sz]|submit|expect|grep|rule)|=~`
/** Names of fields with what was found or is sent for an examination. */
const examined = /(?<![a-z])(?:query|payload|input|prompt|message|cmdline|commandline|uri\b)/i
const runs = regexWith('i')`(^|[\s;&|({])(-c|-e|-command|-enc\w*|eval|exec|source|iex|invoke-\w+|ssh|xargs|env|
  (ba|z|da|k)?sh|node|python3?|perl|ruby|php|powershell|pwsh|cmd)(\s|$)|
  \b(\w*system|popen|spawn\w*|exec\w*|run|call|check_output|check_call|subprocess\w*|shell|eval|fetch|post)\s?[(]|
  [|;&$]\s?[(]?\s*$|\x60`
const attackTitle = /\b(?:attacks?|injections?|threats?|malicious|adversarial|exploits?)\b/i
const regexString = /\(\?i\)|\.\*|\\b|[\w-]\|[\w-]{3,}\|/
const outcome = regexWith('i')`\b(reject\w*|block(ed|s)?|denied|threat|detected|unsafe|safe: false|false|flag(ged)?|
  critical|error|throw|raise|malicious|attack\w*|injection)\b|\u274c|\u{1f6a8}`.source
const outcomePattern = new RegExp(outcome, 'iu')
/** A string and what an examination of it finds: `"..." -> CRITICAL`. */
const verdictBehind = new RegExp(`["'][,;]?\\s*(?:\u2192|[=-]>|#|//)\\s*[^"']{0,60}(?:${outcome})`, 'iu')
/** A command that is given an attack to examine: `/shield-test ...`. */
const examiningCommand = regexWith('i')`^\s*[$>]?\s?[/.\w-]*(test|check|scan|detect|validate)[\w-]*\s[^;&|$\x60]*$`

/**
 * Whether the passage is a string that code examines. A string that something else runs is no such string, and one that
 * is examined must have a result, or be in a skill about security.
 */
export function isExamined(passage: Passage, isLesson: boolean): boolean {
  const { line, language, call, string, text, lineAbove, linesBelow, headings, isInFence } = passage
  if (!isInFence) return false
  const isAboutAttacks = isLesson || headings.some(({ title }) => attackTitle.test(title))
  if (call === undefined) return isAboutAttacks && examiningCommand.test(line.slice(0, line.indexOf(text)))
  // A string with values in it is made to be used.
  if (runs.test(call) || /\bf$/i.test(call)) return false
  if (/\$\(|\x60/.test(string) && isShell(language, call)) return false
  if (call.trim() === '' && isAboutAttacks && verdictBehind.test(line)) return true
  if (isAboutAttacks && examined.test(call)) return true
  if (!isAboutAttacks && !outcomePattern.test(`${line.slice(-80)}\n${linesBelow}`)) return false
  return examines.test(call) || regexString.test(string) || (examines.test(lineAbove) && !runs.test(lineAbove))
}

/** Whether a command in a string may be expanded. */
function isShell(language: string, call: string): boolean {
  return /^(?:|sh|bash|zsh|shell|console|terminal)$/.test(language) && !/:\s*$/.test(call)
}

/** Languages of fences that are no commands, and no settings with commands in them. */
const reportLanguages: ReadonlySet<string> = new Set(['', ...'text txt markdown md json yaml kql spl'.split(' ')])
const reportTitle = regexWith(
  'i',
)`\b(output|reports?|alerts?|samples?|findings?|scenarios?|injects?|results?|log|scoring)\b`
const reportLabel = regexWith('i')`\b(alert|query|event|process|pattern|message|payload|decoded|cmdline|symptoms?|
  detection|input)\b`
const negativeLabel = regexWith('i')`\b(red[- ]flags?|abnormal|true positive|theft|threat|risk|attack|malicious|
  suspicious|finding|cradle|scenario \d{1,2}|detection)\b`

const actionLabel = regexWith('i')`\b(run|execute|install|commands?|scripts?|setup|steps?|first|then|now|usage)\b`
const sentByOthers = regexWith('i')`\b(some(one|body)|anyone|an? (user|stranger|attacker)|attackers|they)\s
  (sends?|types?|writes?|posts?|asks?|says?)\b`
const attackColumn = regexWith('i')`\b(attack|threat|risk|impact|symptom|detection|red flag|abuse|payload|finding)`
const actionColumn = regexWith(
  'i',
)`\b(action|fix|mitigation|response|remediation|command|solution|run|do|step|usage|setup)`

/** Whether the passage is in a table of attacks, but not in the column of what to do. */
export function isInAttackTable({ column, columns: [first = ''] }: Passage, isLesson: boolean): boolean {
  if (!isLesson && !/\b(?:attack|threat)/i.test(first)) return false
  return attackColumn.test(column) || (attackColumn.test(first) && column !== '' && !actionColumn.test(column))
}

/** In a skill about security: whether the passage is part of a report, a scenario, or a list of attacks. */
export function isReported({ label, language, leadIn, headings, isInFence, isInItem }: Passage): boolean {
  if (isInFence && !reportLanguages.has(language)) return false
  if (isInFence && sentByOthers.test(leadIn)) return true
  if (label === '' || actionLabel.test(label)) return false
  const isInReport = headings.some(({ title }) => reportTitle.test(title))
  return isInFence ? isInReport || reportLabel.test(label) : isInItem && (isInReport || negativeLabel.test(label))
}
