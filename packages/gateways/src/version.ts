import { readFileSync } from 'node:fs'

const readManifest = (): { version: string } =>
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
let version: string | undefined

/** The version of this package. package.json is one level above both the sources and the compiled files. */
export function readProgramVersion(): string {
  return (version ??= readManifest().version)
}
