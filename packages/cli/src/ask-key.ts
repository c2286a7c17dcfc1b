import type { Io } from './io.ts'

const keyCharactersMax = 1000
const columnsUsual = 80

/** The API key that somebody types unseen at a terminal, or that a program pipes in. Throws where there is none. */
export async function askKey(io: Io, url: string): Promise<string> {
  const given = io.stdin.isTTY ? await askTerminal(io, url) : await readInput(io)
  const key = given.trim()
  if (key === '') throw new Error('No API key was given: type it at a terminal, or pipe it in. Nothing was changed.')
  // A file that was piped in by mistake goes to no server.
  if (key.length > keyCharactersMax || /[^\x21-\x7E]/.test(key))
    throw new Error('What was given is no API key: one word is, such as `users create` and `keys create` print.')
  return key
}

async function askTerminal({ stdin, stderr }: Io, url: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  // A terminal that does not tell its width has 0 columns, and every letter would get a line of its own.
  stderr.columns ||= columnsUsual
  // Standard output belongs to the result.
  const answer = await password({ message: `API key for ${url}`, input: stdin, output: stderr })
  if (isCancel(answer)) throw new Error('No API key was given. Nothing was changed.')
  return answer ?? ''
}

async function readInput({ stdin }: Io): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > 2 * keyCharactersMax) break
  }
  return text
}
