import { countListedCharacters, isRecord, isSkillName, skillClients, standardKeys } from '@skillstead/protocol'
import { outlineCharactersMax } from './blocks.ts'
import { findUnread, toCaseAdvice } from './fields.ts'
import { adviseOnKey, adviseOnMetadata } from './key-advice.ts'
import { readKeyValue } from './key-value.ts'
import type { ParsedSkillMd, SkillWarning } from './types.ts'

/** Whether every host reads a document in the same way, and what some hosts may reject or dislike. */
export interface Portability {
  /**
   * Whether the strict rules of the open SKILL.md format are met; advice about the body's length does not affect it.
   */
  readonly portable: boolean
  readonly warnings: readonly SkillWarning[]
}

/** Options of the portability check. */
export interface PortabilityOptions {
  /** Name of the skill's folder, which its name must equal. */
  readonly folderName?: string
}

/**
 * Checks a document against the strict rules of the open SKILL.md format (https://agentskills.io/specification): six
 * keys, their types and lengths, and a strict subset of YAML that begins on the first line. Includes the warnings of
 * parsing; `mergeWarnings` removes duplicates.
 */
export function checkPortability(text: string, parsed: ParsedSkillMd, options: PortabilityOptions = {}): Portability {
  const refusals = [...parsed.warnings, ...parsed.strictIssues]
  if (!text.isWellFormed()) {
    refusals.push({ code: 'not_unicode', message: 'The document contains lone surrogates, which UTF-8 cannot encode.' })
  }
  if (parsed.frontmatterStatus !== 'missing') {
    refusals.push(...listKeyIssues(parsed), ...listNameIssues(parsed, options), ...listTextIssues(parsed))
    refusals.push(...listMetadataIssues(parsed), ...listToolIssues(parsed))
  }
  return { portable: refusals.length === 0, warnings: [...refusals, ...listAdvice(parsed)] }
}

/** Merges lists of warnings, sorted by line, without duplicates of code and line. */
export function mergeWarnings(...lists: readonly (readonly SkillWarning[])[]): SkillWarning[] {
  const merged = new Map<string, SkillWarning>()
  for (const warning of lists.flat()) {
    const key = `${warning.code} ${warning.line ?? warning.message}`
    if (!merged.has(key)) merged.set(key, warning)
  }
  return [...merged.values()].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0))
}

const allowedKeys = new Set<string>(standardKeys)
const descriptionCharactersMax = 1024
const compatibilityCharactersMax = 500
const bodyLinesMax = 500
const bodyTokensMax = 5000
const listedKeysMax = 20

function listKeyIssues(parsed: ParsedSkillMd): SkillWarning[] {
  const extra = Object.keys(parsed.frontmatter).filter((key) => !allowedKeys.has(key))
  return extra.slice(0, listedKeysMax).map((key) => {
    const meant = standardKeys.find((one) => one === key.toLowerCase().replaceAll('_', '-'))
    const isMisspelt = meant !== undefined && !Object.hasOwn(parsed.frontmatter, meant)
    const message = isMisspelt
      ? toCaseAdvice(key, meant)
      : `The key '${key.slice(0, 64)}' is not in the open SKILL.md format. ${adviseOnKey(key, parsed.frontmatter[key])}`
    return toPortabilityIssue(parsed, 'key_not_standard', message, key)
  })
}

function listNameIssues(parsed: ParsedSkillMd, { folderName }: PortabilityOptions): SkillWarning[] {
  const { name } = parsed.frontmatter
  if (name === undefined || name === null || name === '') {
    // The key that was meant has a warning of its own.
    if (findUnread(parsed, 'name')) return []
    return [toPortabilityIssue(parsed, 'name_missing', 'The frontmatter has no name.', 'name')]
  }
  if (!isTextField(parsed, 'name'))
    return [toPortabilityIssue(parsed, 'not_text', 'The name is not text. Put it in quotes.', 'name')]
  if (!isSkillName(String(name))) {
    const message = 'The name must be 1 to 64 lower-case letters, digits and single inner hyphens.'
    return [toPortabilityIssue(parsed, 'name_pattern', message, 'name')]
  }
  if (folderName === undefined || folderName === name) return []
  const message = `The name '${String(name)}' differs from the folder '${folderName}'. Hosts require them to be equal.`
  return [toPortabilityIssue(parsed, 'name_folder_differs', message, 'name')]
}

function listTextIssues(parsed: ParsedSkillMd): SkillWarning[] {
  const issues: SkillWarning[] = []
  for (const [key, charactersMax] of textKeys) {
    const value = parsed.frontmatter[key]
    if (value === undefined && key !== 'description') continue
    if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) {
      if (key === 'description' && !findUnread(parsed, key))
        issues.push(toPortabilityIssue(parsed, 'description_missing', 'The frontmatter has no description.', key))
    } else if (!isTextField(parsed, key)) {
      issues.push(toPortabilityIssue(parsed, 'not_text', `The value of '${key}' is not text. Put it in quotes.`, key))
    } else if (countCodePoints(String(value), charactersMax) > charactersMax) {
      const message = `The value of '${key}' is longer than ${charactersMax} characters.`
      issues.push(toPortabilityIssue(parsed, `${key}_long`, message, key))
    }
  }
  return issues
}

const textKeys: readonly [string, number][] = [
  ['description', descriptionCharactersMax],
  ['compatibility', compatibilityCharactersMax],
  ['license', Number.POSITIVE_INFINITY],
]

function listMetadataIssues(parsed: ParsedSkillMd): SkillWarning[] {
  const { metadata } = parsed.frontmatter
  if (metadata === undefined) return []
  if (!isRecord(metadata)) {
    return [
      toPortabilityIssue(
        parsed,
        'metadata_not_mapping',
        "The value of 'metadata' must be a mapping of text to text.",
        'metadata',
      ),
    ]
  }
  const others = Object.keys(metadata).filter((key) => !isTextField(parsed, `metadata.${key}`))
  return others.slice(0, listedKeysMax).map((key) => {
    const advice = adviseOnMetadata(key, metadata[key])
    const message = `The value of 'metadata.${key.slice(0, 64)}' is not text. ${advice}`
    return toPortabilityIssue(parsed, 'metadata_not_text', message, `metadata.${key}`)
  })
}

function listToolIssues(parsed: ParsedSkillMd): SkillWarning[] {
  const tools = parsed.frontmatter['allowed-tools']
  if (tools === undefined) return []
  // Commas are allowed only in the parentheses of a tool: `Bash(git add:*, git commit:*)`.
  const isSpaced = typeof tools === 'string' && !tools.replace(/\([^()]*\)/g, '').includes(',')
  if (isSpaced) return []
  const message = "The value of 'allowed-tools' must be one text with spaces between the tools."
  return [toPortabilityIssue(parsed, 'allowed_tools_form', message, 'allowed-tools')]
}

function listAdvice(parsed: ParsedSkillMd): SkillWarning[] {
  return [...listListingAdvice(parsed), ...listBodyAdvice(parsed)]
}

function listListingAdvice(parsed: ParsedSkillMd): SkillWarning[] {
  const count = countListedCharacters(parsed)
  // A long description alone has a warning of its own.
  if (typeof parsed.frontmatter['when_to_use'] !== 'string') return []
  return skillClients.flatMap(({ title, listedMax = Number.POSITIVE_INFINITY }) => {
    if (count <= listedMax) return []
    const message = `${title} lists ${listedMax} characters of 'description' and 'when_to_use' together; these fields have ${count}.`
    return [toPortabilityIssue(parsed, 'listing_long', message, 'when_to_use')]
  })
}

function listBodyAdvice({ body, bodyLine }: ParsedSkillMd): SkillWarning[] {
  const text = body.slice(0, outlineCharactersMax)
  const lines = countLines(text)
  const isLong = lines > bodyLinesMax
  // A text never has more tokens than characters, and most bodies are shorter than the advice.
  const tokens = isLong || text.length <= bodyTokensMax ? 0 : estimateTokens(text)
  if (!isLong && tokens <= bodyTokensMax) return []
  const count = isLong ? `${lines} lines` : `about ${tokens} tokens`
  const size = body.length > outlineCharactersMax ? `more than ${count.replace('about ', '')}` : count
  const bound = isLong ? `${bodyLinesMax} lines` : `${bodyTokensMax} tokens`
  const message = `The body has ${size}; the format advises at most ${bound}. Move details to files in references/.`
  return [{ code: 'body_long', message, line: bodyLine }]
}

function isTextField(parsed: ParsedSkillMd, path: string): boolean {
  const isPlain = parsed.keys.get(path)?.written !== undefined
  return typeof readKeyValue(parsed.frontmatter, path) === 'string' && !isPlain
}

/** Counts code points, as the format does; a text of more than twice the maximum is too long in any case. */
function countCodePoints(text: string, charactersMax: number): number {
  return text.length > charactersMax * 2 || text.length <= charactersMax ? text.length : [...text].length
}

/** Lines beyond the outline's limit are not counted: the advice is already exceeded by far. */
function countLines(text: string): number {
  let lines = text === '' || text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return lines
}

/** About one token per character of Chinese, Japanese or Korean, and one per four other characters. */
function estimateTokens(text: string): number {
  let wide = 0
  for (const [run] of text.matchAll(/[\u2e80-\uffff]+/g)) wide += run.length
  return Math.ceil(wide + (text.length - wide) / 4)
}

function toPortabilityIssue(parsed: ParsedSkillMd, code: string, message: string, path: string): SkillWarning {
  const line = parsed.keys.get(path)?.line
  return line === undefined ? { code, message } : { code, message, line }
}
