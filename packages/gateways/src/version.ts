import { readFileSync } from 'node:fs'

let version: string | undefined

/** The version of this package. package.json is one level above both the sources and the compiled files. */
export function readProgramVersion(): string {
  version ??= (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version
  return version
}
