import { isSkillName, isVersion, limits, type Requires } from '@skillstead/protocol'
import { isFilled, readKeyValue } from './key-value.ts'
import { readRequires } from './requires.ts'
import { toSlug, toPlainText } from './text.ts'
import type { ParsedSkillMd, SkillWarning } from './types.ts'

/** The fields that a registry reads from frontmatter. */
export interface SkillFields {
  /** The name, if it is valid; an invalid name sets `nameSlug` and `displayName` instead. */
  readonly name?: string
  readonly displayName?: string
  /** The valid name derived from an invalid one; absent if no valid characters remain. */
  readonly nameSlug?: string
  readonly description?: string
  readonly license?: string
  readonly version?: string
  readonly category?: string
  readonly keywords: readonly string[]
  readonly requires: Requires
  readonly warnings: readonly SkillWarning[]
  /** Fields that a registry cannot take as written without a guess, and refuses unless the request gives them. */
  readonly refusals: readonly FieldRefusal[]
}

/** A field that is refused, as a sentence that names what is written and what to write. */
interface FieldRefusal {
  readonly path: 'name' | 'description' | 'version' | 'requires'
  /** The code of the same fault where it is only a warning, such as in the portability check. */
  readonly code?: string
  readonly message: string
  readonly line?: number
}

interface Reader {
  readonly parsed: ParsedSkillMd
  readonly warnings: SkillWarning[]
  readonly refusals: FieldRefusal[]
}

/** Reads a registry's fields from frontmatter; fields in `metadata` take precedence over fields at the top level. */
export function readSkillFields(parsed: ParsedSkillMd): SkillFields {
  const reader: Reader = { parsed, warnings: [], refusals: [] }
  return {
    ...readNameFields(reader),
    description: readDescription(reader),
    license: readFrontmatterText(reader, ['license'])?.slice(0, licenseCharactersMax),
    version: readVersionField(reader),
    category: readFrontmatterText(reader, ['metadata.category', 'category'])?.slice(0, limits.keywordCharactersMax),
    keywords: readKeywords(parsed),
    requires: readRequiresField(reader),
    warnings: reader.warnings,
    refusals: reader.refusals,
  }
}

const licenseCharactersMax = 200

function readNameFields(reader: Reader): Pick<SkillFields, 'name' | 'displayName' | 'nameSlug'> {
  refuseTwice(reader, 'name')
  const written = readFrontmatterText(reader, ['name'])?.replace(/\s+/g, ' ')
  if (written === undefined) return refuseUnread(reader, 'name')
  const shown = `'${written.slice(0, 80)}'`
  if (isPlaceholder(written) || typeof reader.parsed.frontmatter['name'] === 'object')
    return refuseField(reader, 'name', `${shown} is a placeholder or no text. Write the name of the skill.`)
  if (isSkillName(written)) return { name: written }
  const displayName = written.slice(0, limits.displayNameCharactersMax).toWellFormed()
  const nameSlug = toSlug(written)
  const advice = nameSlug ? `Use '${nameSlug}'` : 'Pass a name explicitly'
  const message = `${shown} is not a skill name: 1 to 64 lower-case letters, digits and single hyphens. ${advice}.`
  warnAbout(reader, 'name_pattern', `The name ${message}`, 'name')
  refuseField(reader, 'name', message)
  return nameSlug ? { nameSlug, displayName } : { displayName }
}

function readDescription(reader: Reader): string | undefined {
  refuseTwice(reader, 'description')
  const written = readFrontmatterText(reader, ['description'])
  if (written !== undefined && !isPlaceholder(written)) return written
  if (written === undefined) refuseUnread(reader, 'description')
  else refuseField(reader, 'description', `'${written.slice(0, 80)}' is a placeholder. Write what the skill does.`)
  return undefined
}

/** Whether the whole value is a placeholder of a template that was not filled in, such as `{{name}}` or `<name>`. */
function isPlaceholder(text: string): boolean {
  return /^(?:\{\{.*\}\}|\$\{.*\}|<[^<>]*>|%[\w-]+%)$/s.test(text)
}

/** Refuses a field that is written twice: which of the two values is meant would be a guess. */
function refuseTwice({ parsed, refusals }: Reader, path: 'name' | 'description'): void {
  const { line, earlierLine } = parsed.keys.get(path) ?? {}
  if (line === undefined || earlierLine === undefined) return
  const message = `The key '${path}' occurs in lines ${earlierLine} and ${line}. Keep one of them.`
  refusals.push({ path, code: 'duplicate_key', message, line })
}

function refuseUnread({ parsed, refusals }: Reader, path: 'name' | 'description'): Record<string, never> {
  const unread = findUnread(parsed, path)
  if (unread) refusals.push({ path, ...unread })
  return {}
}

/** The warning for a line that probably is the missing field: in another case, or without a space after the colon. */
export function findUnread(parsed: ParsedSkillMd, path: 'name' | 'description'): SkillWarning | undefined {
  const ignored = parsed.warnings.find(({ code, message }) => code === 'line_ignored' && message.includes(`'${path}:'`))
  if (ignored) return ignored
  const other = Object.keys(parsed.frontmatter).find((key) => key !== path && key.toLowerCase() === path)
  if (other === undefined) return undefined
  const line = parsed.keys.get(other)?.line
  return { code: 'key_not_standard', message: toCaseAdvice(other, path), ...(line !== undefined && { line }) }
}

/** What to write for a key of the format in another case, or with underscores. */
export function toCaseAdvice(written: string, key: string): string {
  const reason = written.toLowerCase() === key ? ': keys are lower case' : ''
  return `The key '${written}' is not read${reason}. Write '${key}'.`
}

function refuseField(
  reader: Reader,
  path: FieldRefusal['path'],
  message: string,
  key: string = path,
): Record<string, never> {
  const line = reader.parsed.keys.get(key)?.line
  reader.refusals.push(line === undefined ? { path, message } : { path, message, line })
  return {}
}

/** The value of the first key in `paths` that is set, as trimmed text; other types are converted with a warning. */
function readFrontmatterText(reader: Reader, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const value = readKeyValue(reader.parsed.frontmatter, path)
    if (value === undefined || value === null) continue
    const written = reader.parsed.keys.get(path)?.written
    const text = (written ?? toPlainText(value)).trim()
    if (text === '') continue
    if (typeof value !== 'string') {
      warnAbout(reader, 'not_text', `The value of '${path}' is ${nameType(value)}, not text; put it in quotes.`, path)
    } else if (written !== undefined) {
      warnAbout(reader, 'not_text', `Some parsers read the value of '${path}' as no text; put it in quotes.`, path)
    }
    return text
  }
  return undefined
}

function nameType(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a mapping' : `a ${typeof value}`
}

function readVersionField(reader: Reader): string | undefined {
  const path = ['metadata.version', 'version'].find((key) => isFilled(readKeyValue(reader.parsed.frontmatter, key)))
  if (!path) return undefined
  const value = readKeyValue(reader.parsed.frontmatter, path)
  const text = (reader.parsed.keys.get(path)?.written ?? toPlainText(value)).trim()
  if (text === '') return undefined
  if (isVersion(text)) return text
  const numbers = toThreeNumbers(text)
  const advice = numbers === undefined ? 'Write three numbers such as 1.0.0' : `Write '${numbers}'`
  const message = `'${text.slice(0, 40)}' is not three numbers. ${advice}, or pass a version.`
  refuseField(reader, 'version', message, path)
  warnAbout(reader, 'version_ignored', `The version ${message}`, path)
  return undefined
}

/** The version that is obviously meant: `v1.0.0`, `1.0` and `1.0.0-beta` are 1.0.0; undefined for other texts. */
function toThreeNumbers(text: string): string | undefined {
  const written = /^v?(\d+)(?:\.(\d+)(?:\.(\d+)(?:[-+].*)?)?)?$/i.exec(text)?.slice(1)
  const version = written?.map((number = '0') => number.replace(/^0+(?=\d)/, '')).join('.')
  return version !== undefined && isVersion(version) ? version : undefined
}

function readRequiresField({ parsed, warnings, refusals }: Reader): Requires {
  const found = readRequires(parsed)
  warnings.push(...found.warnings, ...found.refusals)
  refusals.push(...found.refusals.map((refusal) => ({ path: 'requires' as const, ...refusal })))
  return found.requires
}

function readKeywords({ frontmatter }: ParsedSkillMd): string[] {
  const keywords = new Set<string>()
  for (const path of ['metadata.keywords', 'metadata.tags', 'keywords', 'tags']) {
    for (const item of listKeywords(readKeyValue(frontmatter, path))) {
      const keyword = item.trim().slice(0, limits.keywordCharactersMax).toWellFormed().trim()
      if (keyword && keywords.size < limits.keywordsMax) keywords.add(keyword)
    }
  }
  return [...keywords]
}

function listKeywords(value: unknown): string[] {
  if (Array.isArray(value)) return value.slice(0, keywordCandidatesMax).map(toPlainText)
  if (typeof value === 'number') return [String(value)]
  if (typeof value !== 'string') return []
  const text = value.slice(0, keywordCandidatesMax * limits.keywordCharactersMax)
  // Spaces separate keywords only if there are no commas: `code review, testing` is two keywords.
  return /[,;\n]/.test(text) ? text.split(/[,;\n]/) : text.split(/\s+/)
}

const keywordCandidatesMax = 256

function warnAbout(reader: Reader, code: string, message: string, path: string): void {
  const line = reader.parsed.keys.get(path)?.line
  reader.warnings.push(line === undefined ? { code, message } : { code, message, line })
}
