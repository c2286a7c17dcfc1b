import { regex } from '../text/regex.ts'
/** The end of a sentence. */
export const sentenceStop = /[.!?;](?=\s|$)|\uE000/

/** The end of a clause: the text after it may have another subject. */
export const clauseStop = /[.!?;,:](?=\s|$)|\uE000|\s[\u2013\u2014-]\s|\u2014/

/** The end of a passage: before a blank line, an item, a heading or a cell. */
export const passageStop = /\uE000/

/**
 * The condition that a sentence does not describe attackers. Put it at the end of an expression: it is the slowest
 * part.
 */
export const byAuthor = regex`(?<!\b(attack(er|ers|s)?|adversar(y|ies)|malware|threat actors?|
  hackers?|scammers?|samples?|insiders?|criminals?|ransomware|intruders?|actors?|apt\d{0,2}|groups?|trojans?)\b
  {0-80 in sentence})`
