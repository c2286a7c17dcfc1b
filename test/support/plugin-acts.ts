import { readFileSync } from 'node:fs'
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'

const schemaFile = new URL('../fixtures/agent-plugins/plugin.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as {
  readonly properties: { readonly $schema: { readonly const: string } }
}
const validate = new Ajv2020({ allErrors: true }).compile(schema)

/** The identifier that a manifest of Agent Plugins 1.0.0 names. */
export const pluginSchema = schema.properties.$schema.const

/** Why a value is no manifest of Agent Plugins 1.0.0; empty if it is one. */
export function findSchemaProblems(manifest: unknown) {
  validate(manifest)
  return validate.errors ?? []
}

export function toSkillMd(name: string, more = ''): string {
  return `---\nname: ${name}\ndescription: What ${name} does.\n${more}---\n# ${name}\n\nReads files.\n`
}

export function toManifest(fields: object = {}): string {
  return JSON.stringify({ $schema: pluginSchema, name: 'office', description: 'Forms and letters.', ...fields })
}

/** Files by path; a text that begins with `->` is a link. */
export type Files = Readonly<Record<string, string>>

/** Writes files into a folder. Those that begin with `#!` are executable. */
export async function writeTree(folder: string, files: Files): Promise<string> {
  for (const [path, text] of Object.entries(files)) {
    const place = join(folder, path)
    await mkdir(dirname(place), { recursive: true })
    await (text.startsWith('->') ? symlink(text.slice(2), place) : writeFile(place, text))
    if (text.startsWith('#!')) await chmod(place, 0o755)
  }
  return folder
}
