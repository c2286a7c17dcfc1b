const keyCharactersMax = 1000
const columnsUsual = 80

/** The API key that somebody types unseen at a terminal, or that a program pipes in. Throws where there is none. */
export async function askKey(url: string): Promise<string> {
  const given = process.stdin.isTTY ? await askTerminal(url) : await readInput()
  const key = given.trim()
  if (key === '') throw new Error('No API key was given: type it at a terminal, or pipe it in. Nothing was changed.')
  // A file that was piped in by mistake goes to no server.
  if (key.length > keyCharactersMax || /[^\x21-\x7E]/.test(key))
    throw new Error('What was given is no API key: one word is, such as `users create` and `keys create` print.')
  return key
}

async function askTerminal(url: string): Promise<string> {
  const { isCancel, password } = await import('@clack/prompts')
  // A terminal that does not tell its width has 0 columns, and every letter would get a line of its own.
  process.stderr.columns ||= columnsUsual
  // Standard output belongs to the result.
  const answer = await password({ message: `API key for ${url}`, output: process.stderr })
  if (isCancel(answer)) throw new Error('No API key was given. Nothing was changed.')
  return answer ?? ''
}

async function readInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk as string
    if (text.length > 2 * keyCharactersMax) break
  }
  return text
}
