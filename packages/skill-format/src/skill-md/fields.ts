import { isSkillName, isVersion, limits } from '@skillstead/protocol'
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
  readonly warnings: readonly SkillWarning[]
}

interface Reader {
  readonly parsed: ParsedSkillMd
  readonly warnings: SkillWarning[]
}

/** Reads a registry's fields from frontmatter; those in `metadata` take precedence over those at the top level. */
export function readSkillFields(parsed: ParsedSkillMd): SkillFields {
  const reader: Reader = { parsed, warnings: [] }
  return {
    ...readNameFields(reader),
    description: readFrontmatterText(reader, ['description']),
    license: readFrontmatterText(reader, ['license'])?.slice(0, licenseCharactersMax),
    version: readVersionField(reader),
    category: readFrontmatterText(reader, ['metadata.category', 'category'])?.slice(0, limits.keywordCharactersMax),
    keywords: readKeywords(parsed),
    warnings: reader.warnings,
  }
}

/** Reads the value of a top-level key or, as `metadata.<key>`, of a key in `metadata`. */
export function readKeyValue(frontmatter: Record<string, unknown>, path: string): unknown {
  if (!path.startsWith('metadata.')) return Object.hasOwn(frontmatter, path) ? frontmatter[path] : undefined
  const { metadata } = frontmatter
  const key = path.slice('metadata.'.length)
  if (typeof metadata !== 'object' || metadata === null || !Object.hasOwn(metadata, key)) return undefined
  return (metadata as Record<string, unknown>)[key]
}

const licenseCharactersMax = 200

function readNameFields(reader: Reader): Pick<SkillFields, 'name' | 'displayName' | 'nameSlug'> {
  const written = readFrontmatterText(reader, ['name'])?.replace(/\s+/g, ' ')
  if (written === undefined) return {}
  if (isSkillName(written)) return { name: written }
  const nameSlug = toSlug(written)
  const advice = nameSlug ? `it is read as '${nameSlug}'` : 'it contains no usable characters: pass a name explicitly'
  const pattern = '1 to 64 lower-case letters, digits and single hyphens'
  warnAbout(reader, 'name_pattern', `The name '${written.slice(0, 80)}' is not ${pattern}; ${advice}.`, 'name')
  const displayName = written.slice(0, limits.displayNameCharactersMax).toWellFormed()
  return nameSlug ? { nameSlug, displayName } : { displayName }
}

/** The first of these keys that is set, as trimmed text; other types are converted with a warning. */
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
  if (isVersion(text)) return text
  const message = `The version '${text.slice(0, 40)}' is not three numbers such as 1.0.0, and was not used.`
  warnAbout(reader, 'version_ignored', message, path)
  return undefined
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
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
