import { JsonLimitError, isRecord, toErrorText, toOneLine, type PathReason } from '@skillstead/protocol'
import { toArchiveError } from './archive-error.ts'
import { McpJsonError, parseUniqueJson } from './mcp-json.ts'
import type { PluginFacts } from './plugin-facts.ts'
import { toBounded } from './select-files.ts'

/** The manifest at the root of a plugin of Agent Plugins 1.0.0, as far as a registry uses it. */
export interface PluginManifest {
  readonly name: string
  readonly description: string
  /** Fields that are not stored: those that the specification does not have, and those for which a pack has no place. */
  readonly ignored: readonly PathReason[]
}

/** The file name of the manifest. */
export const pluginFile = 'plugin.json'
/** The identifier of the manifest's schema, which the specification requires exactly. It is never fetched. */
const pluginSchema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
const nameCharactersMax = 64
const manifestBytesMax = 1024 * 1024

/** What each field of the manifest must be. */
const fields: Readonly<Record<string, { readonly must: string; isValid(value: unknown): boolean }>> = {
  $schema: {
    must: `exactly "${pluginSchema}"`,
    isValid: (value) => value === pluginSchema,
  },
  name: {
    must: `1 to ${nameCharactersMax} of the characters a-z, 0-9, - and ., with a letter or digit first and last, without -- and ..`,
    isValid: (value) =>
      isText(value) &&
      value.length <= nameCharactersMax &&
      /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(value),
  },
  ...Object.fromEntries(
    ['version', 'description', 'homepage', 'repository', 'license'].map((field) => [
      field,
      { must: 'a text', isValid: isText },
    ]),
  ),
  author: {
    must: 'an object with no fields but name, email and url, each of them a text',
    isValid: (value) =>
      isRecord(value) &&
      Object.entries(value).every(([key, text]) => ['name', 'email', 'url'].includes(key) && isText(text)),
  },
  keywords: { must: 'a list of texts', isValid: (value) => Array.isArray(value) && value.every(isText) },
  // Any value is accepted: the specification lets readers ignore one that is no object.
  extensions: { must: 'an object', isValid: () => true },
}

/**
 * Reads the `plugin.json` of a plugin by the rules of Agent Plugins 1.0.0.
 *
 * @throws {ArchiveError} that names the field at fault.
 */
export function parsePluginManifest(bytes: Uint8Array): PluginManifest {
  const manifest = parseManifest(bytes)
  for (const [field, { must, isValid }] of Object.entries(fields)) {
    const isGiven = Object.hasOwn(manifest, field)
    if (!isGiven && field !== '$schema' && field !== 'name') continue
    if (!isGiven) throw toManifestError(`The field ${field} is missing. It must be ${must}.`)
    if (!isValid(manifest[field]))
      throw toManifestError(`The field ${field} is ${toShown(manifest[field])}. It must be ${must}.`)
  }
  const {
    name,
    description = '',
    extensions,
  } = manifest as { name: string; description?: string; extensions?: unknown }
  const unknown = Object.keys(manifest).filter((field) => !Object.hasOwn(fields, field))
  const ignored = unknown.map((field) => `The field ${toShown(field)} is not in Agent Plugins 1.0.0, and was ignored.`)
  if (extensions !== undefined && !isRecord(extensions))
    ignored.push('The field extensions is no object, and was ignored.')
  const stored = new Set(['$schema', 'name', 'description', ...(isRecord(extensions) ? [] : ['extensions'])])
  const lost = Object.keys(fields).filter((field) => !stored.has(field) && Object.hasOwn(manifest, field))
  if (lost.length > 0)
    ignored.push(`A pack does not store the field${lost.length === 1 ? '' : 's'} ${lost.join(', ')}.`)
  return { name, description, ignored: toBounded(ignored.map((reason) => ({ path: pluginFile, reason }))) }
}

/** Throws an {@link ArchiveError} for a manifest that is larger than the limit. */
export function checkManifestSize(bytes: number): void {
  if (bytes > manifestBytesMax) throw toManifestError(`The file is larger than ${manifestBytesMax / 1024 / 1024} MiB.`)
}

function parseManifest(bytes: Uint8Array): Record<string, unknown> {
  checkManifestSize(bytes.length)
  const manifest = parseText(bytes)
  if (isRecord(manifest)) return manifest
  throw toManifestError('The file must be a JSON object.')
}

function parseText(bytes: Uint8Array): unknown {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw toManifestError('The file is not valid UTF-8. Save it as UTF-8.')
  }
  try {
    return parseUniqueJson(text)
  } catch (error) {
    if (error instanceof JsonLimitError || error instanceof McpJsonError) throw toManifestError(error.message)
    throw toManifestError(`The file is not valid JSON: ${toOneLine(toErrorText(error)).slice(0, shownCharactersMax)}.`)
  }
}

function toManifestError(message: string) {
  const advice = 'Correct it; to publish the skills without the plugin, pass their folders.'
  return toArchiveError(`${message} ${advice}`, pluginFile)
}

/** The manifest of a generated plugin, as text. It has no version: clients of a repository then use the commit. */
export function toPluginManifest(plugin: {
  readonly name: string
  /** The description; left out of the manifest if empty. */
  readonly description: string
  readonly owner: string
  readonly skills: PluginFacts
}): string {
  const { name, description, owner, skills } = plugin
  const { license, keywords } = skills.summarize()
  const manifest = {
    $schema: pluginSchema,
    name,
    ...(description !== '' && { description }),
    author: { name: owner },
    ...(license !== undefined && { license }),
    ...(keywords.length > 0 && { keywords }),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

/** The name of a plugin with all skills: the name of its marketplace, with `-bundle` appended if a skill has it. */
export function toPluginName(name: string, skills: { has(name: string): boolean }, suffix = ''): string {
  const found = name.slice(0, Math.max(0, nameCharactersMax - suffix.length)).replace(/-$/, '') + suffix
  return skills.has(found) ? toPluginName(name, skills, `${suffix}-bundle`) : found
}

const shownCharactersMax = 100

function toShown(value: unknown): string {
  const text = toOneLine(JSON.stringify(value))
  return text.length > shownCharactersMax ? `${text.slice(0, shownCharactersMax)}…` : text
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
