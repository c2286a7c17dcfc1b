import {
  RegistryError,
  isSkillName,
  limits,
  toVisibleText,
  type FieldError,
  type PublishSkillInput,
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
} from '@skillstead/skill-format'
import type { VersionMetadata } from './skill-document.ts'

/** What a request and the SKILL.md in it say together about a version. */
export interface PackageFields {
  readonly name: string
  /** Undefined: the next patch. */
  readonly version: string | undefined
  readonly portable: boolean
  readonly metadata: VersionMetadata
  readonly warnings: Warning[]
}

type Given = Pick<
  PublishSkillInput,
  'name' | 'version' | 'description' | 'displayName' | 'category' | 'license' | 'keywords'
>

/** How to take what does not agree, or is not there. */
export interface ReadingRules {
  /** An import's record decides over the frontmatter, with a warning; a publisher is asked to decide. */
  readonly requestWins?: boolean
  /** Without a description the first paragraph serves, with a warning. */
  readonly describeFromBody?: boolean
}

/**
 * Reads SKILL.md and reconciles it with what the request says: what is not given is read from the frontmatter, what
 * stands in both must agree. Throws `invalid_skill` with each field that does not agree or is missing.
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
      warnings.push({ code: 'field_overridden', message: `${field} ${message}; the request's is used.` })
    else problems.push({ path: field, message: `${message}; they must agree.` })
    return request
  }

  const shortName = given.name?.slice(given.name.indexOf('/') + 1)
  const name = agree('name', shortName, found.nameSlug ?? found.name)
  const description = agree('description', given.description, read('description')) || describe()
  const license = agree('license', given.license, read('license')) ?? ''
  agree('keywords', joinKeywords(given.keywords), joinKeywords(found.keywords))
  const givenKeywords = cleanKeywords(given.keywords ?? [])
  const version = agree('version', given.version, found.version)
  const category = agree('category', given.category, read('category'))

  /** A field of the frontmatter as it is shown. */
  function read(field: 'description' | 'license' | 'category' | 'displayName'): string | undefined {
    const value = found[field]
    const visible = value && toVisibleText(value)
    if (value !== visible)
      warnings.push({
        code: 'invisible_characters',
        message: `${field} holds invisible characters, which are not shown.`,
      })
    return visible
  }

  function describe(): string {
    if (!rules.describeFromBody) return ''
    const serving = firstParagraph(parsed.body, blocks) || outline.headings[0] || (name ?? '')
    warnings.push({
      code: 'description_from_body',
      message: 'There is no description; the beginning of the text serves as one.',
    })
    return serving
  }

  if (name === undefined)
    problems.push({ path: 'name', message: 'is given neither in the request nor in the frontmatter.' })
  else if (!isSkillName(name))
    problems.push({
      path: 'name',
      message: `'${name}' is no skill name: use lower-case letters, digits and single inner hyphens, 64 at most.`,
    })
  if (description.trim() === '')
    problems.push({ path: 'description', message: 'is given neither in the request nor in the frontmatter.' })
  if (problems.length > 0) throw disagreement(problems)

  return {
    name: name!,
    version,
    portable: portability.portable,
    metadata: {
      displayName: cut(
        'displayName',
        given.displayName ?? read('displayName') ?? name!,
        limits.displayNameCharactersMax,
        warnings,
      ),
      description: cut('description', description, limits.descriptionCharactersMax, warnings),
      license: cut('license', license, 128, warnings),
      category: category === undefined ? undefined : cut('category', category, 64, warnings),
      keywords: givenKeywords.length > 0 ? givenKeywords : cleanKeywords(found.keywords),
      headings: [...outline.headings],
      summary: withoutNul(outline.summary),
      frontmatter: parsed.frontmatter,
      contract: readContract(parsed, blocks),
      capabilities: [...readCapabilities(parsed)],
    },
    warnings,
  }
}

/** Keywords as they are stored: trimmed, each once, in their order. */
export function cleanKeywords(keywords: readonly string[]): string[] {
  const cleaned = keywords.map((keyword) => toVisibleText(keyword.replaceAll(',', ' ')).trim())
  const bounded = cleaned.map((keyword) => keyword.slice(0, limits.keywordCharactersMax).toWellFormed())
  return [...new Set(bounded.filter((keyword) => keyword !== ''))]
}

/** One text for a list of keywords, so that two lists agree whatever their order; undefined where there is none. */
function joinKeywords(keywords: readonly string[] | undefined): string | undefined {
  return (
    cleanKeywords(keywords ?? [])
      .toSorted()
      .join(', ') || undefined
  )
}

/** PostgreSQL has no place for NUL in a text; a document that holds one is served as it is all the same. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '')
}

/** Real documents hold values of any length; what is shown is cut, with a word about it, and the content stays whole. */
function cut(field: string, text: string, charactersMax: number, warnings: Warning[]): string {
  const value = toVisibleText(text)
  if (value.length <= charactersMax) return value
  warnings.push({
    code: 'field_cut',
    message: `${field} has ${value.length} characters; the first ${charactersMax} are shown.`,
  })
  return value.slice(0, charactersMax).toWellFormed()
}

function disagreement(problems: FieldError[]): RegistryError {
  const sentences = problems.map(({ path, message }) => `${path} ${message}`)
  return new RegistryError('invalid_skill', sentences.join(' '), { errors: problems })
}
