import type { Io } from '../terminal/io.ts'
import { readStandardInput } from '../terminal/read-input.ts'
import { UsageError } from './command.ts'

/** Reads standard input of at most `charactersMax` characters; `what` names the input in the error. */
export async function readWholeInput(io: Pick<Io, 'stdin'>, charactersMax: number, what: string): Promise<string> {
  const text = await readStandardInput(io, charactersMax)
  if (text.length <= charactersMax) return text
  throw new UsageError(`Standard input has more than ${charactersMax} characters, which is the maximum for ${what}.`)
}
