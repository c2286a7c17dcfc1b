import { UsageError } from '../command/command.ts'

/**
 * The words of a command as a shell splits them: quotes and backslashes work, variables, globs and pipes do not. The
 * command then runs without a shell, which could execute parts of a prompt by another author. Throws {@link UsageError}
 * for an open quote.
 *
 * @example splitCommand("claude -p --model 'opus 4'") // ['claude', '-p', '--model', 'opus 4']
 */
export function splitCommand(command: string, option: string): readonly [string, ...string[]] {
  const words: string[] = []
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\([^])|([^\s'"\\]+)/y
  let word: string | undefined
  while (part.lastIndex < command.length) {
    const at = part.lastIndex
    const found = part.exec(command)
    if (!found)
      throw new UsageError(`--${option} has an open quote, or ends with a backslash: ${command.slice(at, at + 40)}`)
    const [, single, double, escaped, plain] = found
    const text = single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain
    if (text !== undefined) word = (word ?? '') + text
    else if (word !== undefined) {
      words.push(word)
      word = undefined
    }
  }
  if (word !== undefined) words.push(word)
  const [program, ...rest] = words
  if (program === undefined || program === '') throw new UsageError(`--${option} names no command.`)
  return [program, ...rest]
}
