import { regexWith } from '../text/regex.ts'

/** Words that prohibit the text next to them, and marks that show it as wrong. */
const forbidding = regexWith('i')`\b(never|do not|don['’]t|must ?n['’]t|must not|
  should ?n['’]t|should not|avoid|instead of|rather than|forbidden|prohibited|not allowed|disallow(ed|s)?|
  anti-?pattern|deprecated)\b|❌|🚫|⛔|✗|不要|禁止|切勿|请勿|避免`
/** The same words in a reminder: `do not forget`. */
const reminding = /\b(?:do not|don['’]t|never) (?:forget|hesitate|skip|mind)\b/i
const badExample = /^\W{0,6}(?:❌|✗|🚫|bad\b|wrong\b|incorrect\b|anti-?pattern\b|before\b.{0,20}\bbad\b)/i

/** Whether a line prohibits the text in it or after it. */
export function isProhibited(line: string): boolean {
  return (forbidding.test(line) || badExample.test(line)) && !reminding.test(line)
}

/** The sentences of a line that prohibit nothing. */
export function keepAllowed(line: string): string {
  if (!isProhibited(line)) return line
  const sentences = line.split(/(?<=[.!?;。；])\s/)
  return sentences.length === 1 ? '' : sentences.filter((sentence) => !isProhibited(sentence)).join(' ')
}

const comment = /^\s{0,40}(?:#|\/\/)\s{0,3}/
const badWords = "❌|✗|🚫|bad\\b|wrong\\b|incorrect\\b|never\\b|don['’]t\\b|anti-?pattern\\b"
const badWord = new RegExp(badWords, 'i')
const badComment = new RegExp(`^(?:${badWords}|do not\\b|avoid\\b)`, 'i')
/** As {@link badComment}, anywhere in a text: begins with a character that is rare in code. */
const badCommentHint = new RegExp(`(?:#|//)\\s{0,3}(?:${badWords}|do not\\b|avoid\\b)`, 'i')

/** Removes examples that a comment calls wrong from a block of code: up to a blank line or the next comment. */
export function dropBadExamples(code: string): string {
  if (!badCommentHint.test(code) || !badWord.test(code)) return code
  let isBad = false
  const kept = code.split('\n').filter((line) => {
    if (comment.test(line)) isBad = badComment.test(line.replace(comment, ''))
    else if (line.trim() === '') isBad = false
    return !isBad
  })
  return kept.join('\n')
}
