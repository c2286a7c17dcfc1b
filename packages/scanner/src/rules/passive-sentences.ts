import type { Pattern } from '../match/rule.ts'
import { regex } from '../text/regex.ts'
import { containing, together } from '../match/pattern-tags.ts'
import { sentenceStop } from './words.ts'

/** Sentences that state, in the passive or the third person, what an order would say. */

/** What is kept from reports. */
export const leftOut: readonly Pattern[] = [
  containing(
    'from the|of the',
  )`\b(such|these|those|the) (commands?|steps?|calls?|uploads?|transfers?|actions?|requests?) (is|are|
    gets?|stays?) (to be )?(left out|omitted|kept out|removed|stripped|excluded) (of|from) the ({word} )?(summary|report|
    answer|reply|log|logs|transcript|minutes|changelog|plan)\b`,
  regex`\b(costs?|spending|fees?|charges?|expenses?) (are|is|must|need|should|shall)( not| never|n't) (to )?(be )?
    (mentioned|reported|shown|disclosed|told|listed)\b`,
]

/** Private texts that are passed on to an address. */
export const copiedToAddress: readonly Pattern[] = [
  regex`\b(full|entire|complete|raw|whole|verbatim) ({word} ){0,2}?(transcript|conversation|message|notes|document|
    mail|chat|history)s?\b{0-90 in sentence}\b(forwarded|sent|copied|mailed|posted|uploaded|transmitted)\b
    {0-60 in sentence}[\w.+-]{1,40}@[\w-]{1,40}\.\w`,
]

/** Files of secrets that are passed to a public place. */
export const environmentPasted: readonly Pattern[] = [
  containing(
    '.env',
  )`\b(paste|upload|post|send|push)s?\b[^\n\uE000]{0,80}?\.env\b{0-40 in line}\bto ((a|an|the) )?(public|paste|
    gist|pastebin|bot|channel)\b`,
]

/** Other skills spoken ill of, and authority over everything else. */
export const othersOutranked: readonly Pattern[] = [
  regex`\b(claim that it|(claim|say|state)s? (that )?(the others?|other (skills?|tools?|plug-?ins?|agents?)))('s| is| are)
    \s(broken|unsafe|deprecated|obsolete|outdated|infected)\b`,
  regex`\b(has|have|holds?|takes?|claims?) (final|full|absolute|supreme|sole|highest) (authority|say|word) over (all|any|
    every|the|other) ((other|your|existing) )?(instructions?|skills?|tools?|rules?|agents?|prompts?)\b`,
]

/** Questions that nobody asks. */
export const questionsOmitted: readonly Pattern[] = [
  regex`\bno ((further|separate|prior|additional) )?(confirmation|consent|approval|permission)s? (is|are|need be|
    needs to be|shall be|will be|should be) (to be )?(sought|obtained|awaited)\b`,
]

/** Files of agents that lose their rules, and what comes back after its removal. */
export const rulesLost: readonly Pattern[] = [
  containing('agents.md|claude.md|gemini.md')`\b(lines?|rules?|sections?)\b{0-60 in line}\b(agents|claude|gemini)\.md\b
    {0-120 in line}\b(is|are|gets?|must be|should be) (deleted|removed|dropped|struck)\b`,
  together(
    110,
    sentenceStop,
    regex`\b(not|never|until|unless)\b`,
  )`\b(hooks?|rules?|entry|entries|cop(y|ies)|jobs?|access|
    binding|keys?) (must|shall|has to|needs to) (remain|stay|persist|survive|endure)\b … \b(remove|removes|removed|
    uninstall\w{0,3}|delet\w{1,3})\b`,
  together(
    110,
    sentenceStop,
    regex`\b(not|never|stash|original)\b`,
  )`\bputs (it|them|the (skill|rule|hook|line)) back\b …
    \b(delet\w{1,3}|uninstall\w{0,3}|missing|gone|watcher|each (hour|minute|start|session)|every (hour|minute|
    start|session|time))\b`,
]

/** Protections that are named above and set aside. */
export const guardsDismissed: readonly Pattern[] = [
  regex`\b(disregard|ignore|forget|drop|suspend) ((all|any|the|these|those|your) )?(guard ?rails?|safeguards|restrictions|
    safety rules?|policies) ((given|stated|set|listed) )?(above|earlier|before)\b`,
]

/** Codes of a bank or a card that the user is asked for. */
export const bankCodesAsked: readonly Pattern[] = [
  regex`\b((may|can|could) (i|we) have your|tell (me|us) your|what('s| is) your|give (me|us) your)\b{0-80 in sentence}\b(pin|
    tan|cvc|cvv|security code|one-time code|online-banking)\b`,
]

/** Programs and skills that search for secrets. */
export const homeScanned: readonly Pattern[] = [
  regex`\b(call|script|skill|tool|agent|helper|it|this|function|indexer) ((also|then|first) )?(scans|searches|reads|walks|
    crawls|combs|looks through|goes through) ((the|your|their|all) )?(user's )?((home|whole|entire) )?(home folder|
    home directory|folder of the user|disk|machine|drive|computer){0-40 in sentence}\b(keys?|tokens?|passwords?|
    credentials?|secrets?|wallets?)\b`,
]

/** Work and money that have no end. */
export const endsMissing: readonly Pattern[] = [
  regex`\b(no|without an?|without any) (stopping condition|stop condition|limit (of|on|to) (rounds|spending|recursion)|
    cap on (spending|cost))`,
  regex`\bsub-?agents?\b{0-80 in sentence}\bwithout (a|any) limit (of|on|to) depth\b`,
  regex`\b(budget|quota|credits?|balance|allowance)\b{0-30 in sentence}\b(used up|exhausted|burn(ed|t)?|spent|consumed|
    drained)\b{0-20 in sentence}\b(entirely|completely|in full|fully|to the last)`,
  regex`\bretr(y|ies) (at once|immediately),? forever\b`,
]

/** Judgements that are fixed in advance. */
export const judgementsFixed: readonly Pattern[] = [
  regex`\b(always|must) (ranks?|lists?|puts?|places?|recommends?|favou?rs?)\b{0-40 in sentence}\b(first|at the top|above|
    higher|best)\b{0-60 in sentence}\binvents?\b`,
  regex`\b(gets?|receives?|(are|is) given) ((at least|no more than|at most) )?\d{1,2}/\d{1,3}{0-20 in sentence},? (whatever|
    regardless of|no matter)\b`,
  regex`\b(findings?|vulnerabilit(y|ies)|errors?|warnings?|failures?|defects?|issues)\b{0-90 in sentence}\b(are|is|gets?)
    \s(dropped|removed|hidden|suppressed|left out|omitted|deleted)\b{0-60 in sentence}\b(counts?|totals?|numbers?) ((are|is) )?
    (lowered|reduced|adjusted)`,
]
