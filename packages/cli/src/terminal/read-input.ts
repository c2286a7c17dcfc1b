import type { Io } from './io.ts'

/** Reads standard input. Stops once it has more than `charactersMax` characters, so that the caller can reject them. */
export async function readStandardInput({ stdin }: Pick<Io, 'stdin'>, charactersMax: number): Promise<string> {
  let text = ''
  for await (const chunk of stdin.setEncoding('utf8')) {
    text += chunk
    if (text.length > charactersMax) break
  }
  return text
}
