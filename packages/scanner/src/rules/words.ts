/** What ends a sentence. */
export const sentenceStop = /[.!?;](?=\s|$)|\uE000/

/** What ends a clause: what follows may speak of something else. */
export const clauseStop = /[.!?;,:](?=\s|$)|\uE000|\s[\u2013\u2014-]\s|\u2014/

/** What ends a passage: a blank line, an item, a heading, a cell. */
export const passageStop = /\uE000/

/** Where somebody else is the subject of the sentence: it tells what attackers do. Looked at last, as it costs most. */
const others =
  /(?<!\b(?:attack(?:er|ers|s)?|adversar(?:y|ies)|malware|threat actors?|hackers?|scammers?|samples?|insiders?|criminals?|ransomware|intruders?|actors?|apt\d{0,2}|groups?|trojans?)\b[^.!?\uE000]{0,80})/

/** An expression, unless the sentence before it speaks of what attackers do. */
export function byAuthor(expression: RegExp): RegExp {
  return new RegExp(`(?:${expression.source})${others.source}`)
}
