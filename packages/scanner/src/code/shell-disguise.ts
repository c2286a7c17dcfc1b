import type { Word } from './shell-syntax.ts'
import { isKnown, type Value } from './shell-value.ts'
import type { Piece } from './shell-words.ts'

/** Programs whose names a script only takes apart to hide them. */
const telling: ReadonlySet<string> = new Set(
  `curl wget nc ncat netcat socat bash sh zsh dash ksh eval exec source python python3 perl ruby node php base64 xxd
  openssl rm dd sudo chmod crontab ssh scp cat printenv env rev tr`.split(/\s+/),
)

/**
 * How the name of a command is taken apart, such as `c"u"rl`, `$A$B` and `$'\x63url'`; undefined if it is not. A
 * variable with the whole name, and `"$folder/program"` are usual.
 */
export function findDisguise(word: Word, pieces: readonly Piece[], name: Value): string | undefined {
  if (!isKnown(name) || !telling.has(name.text.slice(name.text.lastIndexOf('/') + 1))) return undefined
  if (name.made.length > 0) return name.made[0]
  const plain = word.text.replace(/^\\(?=\w)/, '').replace(/^(["'])([^"'\\$`]*)\1$/, '$2')
  if (plain === name.text) return undefined
  const isWhole = pieces.some((piece) =>
    piece.values.some(({ text }) => text !== '' && name.text.includes(text) && isName(text)),
  )
  return isWhole ? undefined : 'concatenation'
}

const isName = (text: string) => telling.has(text.slice(text.lastIndexOf('/') + 1))

/** Whether a text has the name of such a program in it. */
export const namesProgram = (text: string) => text.split(/[^\w-]+/, 500).some((word) => telling.has(word))
