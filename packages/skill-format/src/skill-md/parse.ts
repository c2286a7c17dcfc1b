import { isMap } from 'yaml'
import { cutAtLeadingKeys, findFrontmatter, readHeadingKey, type FrontmatterPlace } from './find-frontmatter.ts'
import { parseYaml, toYamlSource } from './parse-yaml.ts'
import { repairFrontmatter } from './repair.ts'
import { addMapping, addWarning, controlPattern, createConversion, dropControls, type Conversion } from './to-plain.ts'
import type { FrontmatterStatus, ParsedSkillMd } from './types.ts'

/**
 * Parses a SKILL.md as leniently as agent hosts do, and reports every repair. Never throws; takes linear time.
 *
 * @example
 * parseSkillMd('---\nname: pdf\ndescription: Reads PDFs: pages, forms\n---\n# PDF').frontmatter
 * // { name: 'pdf', description: 'Reads PDFs: pages, forms' }
 */
export function parseSkillMd(text: string): ParsedSkillMd {
  const place = findFrontmatter(text)
  if (place.kind === 'missing') return toParsedSkillMd(text, place, createConversion(place.warnings), 'missing')
  const state = createConversion(place.warnings)
  const source = prepareFrontmatter(text, place, state)
  if (isBlank(source)) return toParsedSkillMd(text, place, state, 'empty')
  // In YAML a heading is a comment, which would hide the name in it.
  const doc = headingKeyPattern.test(source) ? undefined : parseYaml(source)
  if (doc && doc.errors.length === 0 && isMap(doc.contents)) {
    addMapping(state, doc, source, place.line)
    return toParsedSkillMd(text, place, state, place.kind === 'closed' ? 'ok' : 'unterminated')
  }
  return repairDocument(text, place, source)
}

/** Finds the body of a SKILL.md like {@link parseSkillMd}, almost always without parsing the frontmatter. */
export function findBody(text: string): Pick<ParsedSkillMd, 'body' | 'bodyLine'> {
  const place = findFrontmatter(text)
  const source = dropControls(toYamlSource(text.slice(place.start, place.end)))
  if (place.kind === 'closed' && holdsMarkdown(source)) return parseSkillMd(text)
  return { body: text.slice(place.bodyStart), bodyLine: place.bodyLine }
}

const headingKeyPattern = /^#{2,6} (?:name|description):[ \t]/m

/**
 * Prepares the frontmatter for the yaml library. Keeps the length of the frontmatter, unless it contained control
 * characters.
 */
function prepareFrontmatter(text: string, place: FrontmatterPlace, state: Conversion): string {
  const source = toYamlSource(text.slice(place.start, place.end))
  if (!controlPattern.test(source)) return source
  const line = place.line + source.split('\n').findIndex((candidate) => controlPattern.test(candidate))
  addWarning(state, 'control_characters', 'The frontmatter contained control characters, which were removed.', line)
  // Remove control characters before parsing, because the library uses some of them as markers.
  return dropControls(source)
}

function isBlank(source: string): boolean {
  return source.split('\n').every((line) => line.trim() === '' || (isComment(line) && !readHeadingKey(line)))
}

function isComment(line: string): boolean {
  return line.trimStart().startsWith('#')
}

function repairDocument(text: string, place: FrontmatterPlace, source: string): ParsedSkillMd {
  const isRule = place.kind === 'closed' && holdsMarkdown(source)
  const cut = isRule ? cutAtLeadingKeys(text, place) : place
  const state = createConversion(cut.warnings)
  if (cut.kind === 'missing') return toParsedSkillMd(text, cut, state, 'missing')
  repairFrontmatter(prepareFrontmatter(text, cut, state), cut.line, state)
  const isReadable = Object.keys(state.frontmatter).length > 0
  const status = cut.kind === 'unterminated' ? 'unterminated' : isReadable ? 'repaired' : 'invalid'
  if (status === 'invalid') {
    const message = 'The frontmatter could not be read. It should contain lines such as `name: my-skill`.'
    addWarning(state, 'frontmatter_invalid', message, cut.line)
  }
  return toParsedSkillMd(text, cut, state, status)
}

/**
 * Whether the dashes that seem to close the frontmatter are a rule in the body, because a heading, quote or fence is
 * above them.
 */
function holdsMarkdown(source: string): boolean {
  if (!/^(?:> |```|~~~|#)/m.test(source)) return false
  const lines = source.split('\n')
  return lines.some((line, index) => {
    if (/^(?:> |```|~~~)/.test(line)) return true
    const isAlone = lines[index - 1]?.trim() === '' && lines[index + 1]?.trim() === ''
    return isAlone && /^#{1,6} /.test(line) && !readHeadingKey(line)
  })
}

function toParsedSkillMd(
  text: string,
  place: FrontmatterPlace,
  state: Conversion,
  frontmatterStatus: FrontmatterStatus,
): ParsedSkillMd {
  const { frontmatter, warnings, strictIssues, keys } = state
  const body = text.slice(place.bodyStart)
  return { frontmatter, frontmatterStatus, body, bodyLine: place.bodyLine, warnings, strictIssues, keys }
}
