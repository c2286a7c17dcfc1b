import { readFileSync } from 'node:fs'

/** The version of this program. package.json is one level above both the sources and the compiled files. */
export function readProgramVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
