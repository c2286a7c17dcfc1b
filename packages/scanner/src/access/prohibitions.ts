import { regexWith } from '../text/regex.ts'

/** Words and marks that prohibit the text next to them. */
const forbidding = regexWith('i')`\b(never|do not|don['’]t|must ?n['’]t|must not|
  should ?n['’]t|should not|avoid|instead of|rather than|forbidden|prohibited|not allowed|disallow(ed|s)?|
  anti-?pattern|deprecated)\b|❌|🚫|⛔|✗|不要|禁止|切勿|请勿|避免`
/** Prohibiting words that are only a reminder: `do not forget`. */
const reminding = /\b(?:do not|don['’]t|never) (?:forget|hesitate|skip|mind)\b/i
const badExample = /^\W{0,6}(?:❌|✗|🚫|bad\b|wrong\b|incorrect\b|anti-?pattern\b|before\b.{0,20}\bbad\b)/i

/** Whether a line prohibits its own text, or the text after the line. */
export function isProhibitedLine(line: string): boolean {
  return (forbidding.test(line) || badExample.test(line)) && !reminding.test(line)
}

/** The sentences of a line that prohibit nothing. */
export function keepAllowed(line: string): string {
  if (!isProhibitedLine(line)) return line
  const sentences = line.split(/(?<=[.!?;。；])\s/)
  return sentences.length === 1 ? '' : sentences.filter((sentence) => !isProhibitedLine(sentence)).join(' ')
}

const badComment = regexWith('i')`(#|//)\s{0,3}(❌|✗|🚫|(bad|wrong|incorrect|never|don['’]t|do not|avoid|
  anti-?pattern)\b)`

/** Removes examples that a comment calls wrong from a block of code: up to a blank line or the next comment. */
export function dropBadExamples(code: string): string {
  if (!badComment.test(code)) return code
  let isBad = false
  const kept = code.split('\n').filter((line) => {
    const text = line.trimStart()
    if (/^(?:#|\/\/)/.test(text)) isBad = text.search(badComment) === 0
    else if (text === '') isBad = false
    return !isBad
  })
  return kept.join('\n')
}
