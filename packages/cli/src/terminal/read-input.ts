import { UsageError } from '../command/command.ts'
import type { Io } from './io.ts'

/** Reads standard input. Stops once it has more than `charactersMax` characters, so that the caller can reject them. */
export async function readInput({ stdin }: Pick<Io, 'stdin'>, charactersMax: number): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > charactersMax) break
  }
  return text
}

/** The same for a text that has at most `charactersMax` characters; `what` names it in the error about a longer one. */
export async function readLimited(io: Pick<Io, 'stdin'>, charactersMax: number, what: string): Promise<string> {
  const text = await readInput(io, charactersMax)
  if (text.length <= charactersMax) return text
  throw new UsageError(`Standard input has more than ${charactersMax} characters, which is the maximum for ${what}.`)
}
