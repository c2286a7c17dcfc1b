import { regex } from '../regex.ts'
/** What ends a sentence. */
export const sentenceStop = /[.!?;](?=\s|$)|\uE000/

/** What ends a clause: what follows may speak of something else. */
export const clauseStop = /[.!?;,:](?=\s|$)|\uE000|\s[\u2013\u2014-]\s|\u2014/

/** What ends a passage: a blank line, an item, a heading, a cell. */
export const passageStop = /\uE000/

/** Ends an expression whose sentence must not report what attackers do. Looked at last, as it costs most. */
export const byAuthor = regex`(?<!\b(attack(er|ers|s)?|adversar(y|ies)|malware|threat actors?|
  hackers?|scammers?|samples?|insiders?|criminals?|ransomware|intruders?|actors?|apt\d{0,2}|groups?|trojans?)\b
  {0-80 in sentence})`
