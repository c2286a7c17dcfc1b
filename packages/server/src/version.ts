import { readFileSync } from 'node:fs'

let version: string | undefined

/** The version of this package; package.json lies above the sources and above what is compiled from them. */
export function readVersion(): string {
  version ??= (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string })
    .version
  return version
}
