import { readFileSync } from 'node:fs'

/** The version of this program. package.json is one level above both the sources and the compiled files. */
export function readProgramVersion(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return version
}
