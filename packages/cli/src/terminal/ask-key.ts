import { toOneLine } from '@skillstead/protocol'
import type { Io } from './io.ts'
import { readStandardInput } from './read-input.ts'

const keyCharactersMax = 1000
const columnsUsual = 80

/** Prompts for an API key on a terminal without echo, or reads it from standard input. Throws if it gets none. */
export async function askKey(io: Io, url: string): Promise<string> {
  const given = io.stdin.isTTY ? await askTerminal(io, url) : await readStandardInput(io, 2 * keyCharactersMax)
  const key = given.trim()
  if (key === '') throw new Error('The API key is missing. Type it at a terminal, or pipe it in. Nothing was changed.')
  // Do not send a file that was piped in by mistake to a server.
  if (key.length > keyCharactersMax || /[^\x21-\x7E]/.test(key))
    throw new Error('This is not an API key. Use a key that `users create` or `keys create` printed.')
  return key
}

async function askTerminal({ stdin, stderr }: Io, url: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  // A terminal that does not report its width has 0 columns; every character would get its own line.
  stderr.columns ||= columnsUsual
  // Standard output is for the result only.
  const answer = await password({ message: `API key for ${toOneLine(url)}`, input: stdin, output: stderr })
  if (isCancel(answer)) throw new Error('No API key was given. Nothing was changed.')
  return answer ?? ''
}
