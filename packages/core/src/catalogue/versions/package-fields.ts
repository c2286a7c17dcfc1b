import {
  type FieldError,
  isSkillName,
  limits,
  type PublishSkillInput,
  type Requires,
  toVisibleText,
  type Warning,
} from '@skillstead/protocol'
import {
  checkPortability,
  firstParagraph,
  mergeWarnings,
  outlineSkillMd,
  parseSkillMd,
  readBlocks,
  readCapabilities,
  readContract,
  readSkillFields,
  type SkillFields,
} from '@skillstead/skill-format'
import { invalidFields } from '../../kernel/field-errors.ts'
import type { VersionMetadata } from '../../storage/tables.ts'

/** The fields of a version, from the request and its SKILL.md. */
export interface PackageFields {
  readonly name: string
  /** The requested version number; undefined for the next patch. */
  readonly version: string | undefined
  readonly portable: boolean
  readonly metadata: VersionMetadata
  readonly requires: Requires
  readonly warnings: Warning[]
}

type Given = Pick<
  PublishSkillInput,
  'name' | 'normalizeName' | 'version' | 'description' | 'displayName' | 'category' | 'license' | 'keywords'
>

/** How to resolve fields that conflict or are missing. */
export interface ReadingRules {
  /** The request wins over the frontmatter, with a warning (imports). Default: a conflict is an error. */
  readonly requestWins?: boolean
  /** A missing description is taken from the first paragraph, with a warning. */
  readonly describeFromBody?: boolean
}

/**
 * Reads SKILL.md and merges it with the request: fields that the request omits come from the frontmatter, and fields in
 * both must agree. Throws `invalid_skill` with each field that conflicts or is missing.
 */
export function readPackageFields(skillMd: string, given: Given, rules: ReadingRules = {}): PackageFields {
  const parsed = parseSkillMd(skillMd)
  const found = readSkillFields(parsed)
  const portability = checkPortability(skillMd, parsed)
  const blocks = readBlocks(parsed.body)
  const outline = outlineSkillMd(parsed.body, blocks)
  const warnings: Warning[] = mergeWarnings(parsed.warnings, found.warnings, portability.warnings)
  const problems: FieldError[] = []

  function agree(field: string, request: string | undefined, frontmatter: string | undefined): string | undefined {
    if (request === undefined || frontmatter === undefined || request === frontmatter) return request ?? frontmatter
    const message = `is '${request}' in the request and '${frontmatter}' in the frontmatter`
    if (rules.requestWins)
      warnings.push({ code: 'field_overridden', message: `${field} ${message}; the value in the request is used.` })
    else problems.push({ path: field, message: `${message}; they must agree.` })
    return request
  }

  if (rules.requestWins) warnings.push(...warnOfRefusals(found, given))
  else problems.push(...listRefusals(found, given))
  const shortName = given.name?.slice(given.name.indexOf('/') + 1)
  const name = agree('name', shortName, found.nameSlug ?? found.name)
  const description = agree('description', given.description, read('description')) || describe()
  const license = agree('license', given.license, read('license')) ?? ''
  agree('keywords', joinKeywords(given.keywords), joinKeywords(found.keywords))
  const givenKeywords = cleanKeywords(given.keywords ?? [])
  const version = agree('version', given.version, found.version)
  const category = agree('category', given.category, read('category'))

  /** A field of the frontmatter in display form. */
  function read(field: 'description' | 'license' | 'category' | 'displayName'): string | undefined {
    const value = found[field]
    const visible = value && toVisibleText(value)
    const message = `${field} contains invisible characters, which are not displayed.`
    if (value !== visible) warnings.push({ code: 'invisible_characters', message })
    return visible
  }

  function describe(): string {
    if (!rules.describeFromBody) return ''
    const serving = firstParagraph(parsed.body, blocks) || outline.headings[0] || (name ?? '')
    const message = 'There is no description. The beginning of the text is used instead.'
    warnings.push({ code: 'description_from_body', message })
    return serving
  }

  const isNamed = (path: string) => problems.some((problem) => problem.path === path)
  if (name === undefined && !isNamed('name'))
    problems.push({ path: 'name', message: 'is missing. Write it in the frontmatter of SKILL.md, or pass it.' })
  else if (name !== undefined && !isSkillName(name))
    problems.push({
      path: 'name',
      message: `'${name}' is not a valid skill name: use at most 64 lower-case letters, digits and single hyphens between them.`,
    })
  if (description.trim() === '' && !isNamed('description'))
    problems.push({ path: 'description', message: 'is missing. Write it in the frontmatter of SKILL.md, or pass it.' })
  if (problems.length > 0) throw invalidFields('invalid_skill', problems)

  const displayName = given.displayName ?? read('displayName') ?? name!
  return {
    name: name!,
    version,
    portable: portability.portable,
    metadata: {
      displayName: cutDisplayed('displayName', displayName, limits.displayNameCharactersMax, warnings),
      description: cutDisplayed('description', description, limits.descriptionCharactersMax, warnings),
      license: cutDisplayed('license', license, 128, warnings),
      category: category === undefined ? undefined : cutDisplayed('category', category, 64, warnings),
      keywords: givenKeywords.length > 0 ? givenKeywords : cleanKeywords(found.keywords),
      headings: [...outline.headings],
      // Without text in the body, the description is the summary.
      summary: outline.summary || description.trim().slice(0, limits.descriptionCharactersMax).toWellFormed(),
      frontmatter: parsed.frontmatter,
      contract: readContract(parsed, blocks),
      capabilities: [...readCapabilities(parsed)],
    },
    requires: found.requires,
    warnings,
  }
}

/** The errors for invalid fields of SKILL.md, except fields for which the request gives a value. */
function listRefusals({ refusals, nameSlug }: SkillFields, given: Given): FieldError[] {
  return refusals.flatMap(({ path, code, message }) => {
    if (path !== 'requires' && given[path] !== undefined) return []
    if (path !== 'name' || nameSlug === undefined || code !== undefined) return [{ path, message }]
    if (given.normalizeName) return []
    return [{ path, message: `${message} To accept that name, pass the name ${nameSlug}.` }]
  })
}

/** Warnings for imports, not the errors of {@link listRefusals}. Invalid names and versions have other warnings. */
function warnOfRefusals({ refusals, displayName }: SkillFields, given: Given): Warning[] {
  const others = refusals.filter(({ path, code }) => {
    if (path === 'version' || path === 'requires') return false
    if (path === 'name') return code !== undefined || displayName === undefined
    return given[path] === undefined
  })
  return others.map(({ message }) => ({ code: 'field_refused', message }))
}

/** Keywords in stored form: trimmed and distinct, in order. */
export function cleanKeywords(keywords: readonly string[]): string[] {
  const cleaned = keywords.map((keyword) => toVisibleText(keyword.replaceAll(',', ' ')).trim())
  const bounded = cleaned.map((keyword) => keyword.slice(0, limits.keywordCharactersMax).toWellFormed())
  return [...new Set(bounded.filter((keyword) => keyword !== ''))]
}

/** The sorted keywords as one text, to compare lists in any order; undefined if there are no keywords. */
function joinKeywords(keywords: readonly string[] | undefined): string | undefined {
  return (
    cleanKeywords(keywords ?? [])
      .toSorted()
      .join(', ') || undefined
  )
}

/** Removes NUL characters, because PostgreSQL cannot store them in text. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '')
}

/** Shortens a displayed value with a warning; the content stays unchanged. Real documents have values of any length. */
function cutDisplayed(field: string, text: string, charactersMax: number, warnings: Warning[]): string {
  const value = toVisibleText(text)
  if (value.length <= charactersMax) return value
  const message = `${field} has ${value.length} characters. Only the first ${charactersMax} are displayed.`
  warnings.push({ code: 'field_cut', message })
  return value.slice(0, charactersMax).toWellFormed()
}
