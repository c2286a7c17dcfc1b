import { readFileSync } from 'node:fs'

/** The version of this program; package.json lies above the sources and above what is compiled from them. */
export function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
