import { readFileSync } from 'node:fs'

/** The version of this package. */
export function readVersion(): string {
  // Compiled files are one level below package.json, sources are two levels below it.
  const above = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json'
  return (JSON.parse(readFileSync(new URL(above, import.meta.url), 'utf8')) as { version: string }).version
}
