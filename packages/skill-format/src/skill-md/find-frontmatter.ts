import type { SkillWarning } from './types.ts'

/** Real frontmatter stays below 4 kB; the limit prevents a hostile document from blocking the event loop. */
const frontmatterCharactersMax = 16 * 1024

/** Position of the frontmatter in a text; offsets count UTF-16 code units of the whole text. */
export interface FrontmatterPlace {
  readonly kind: 'closed' | 'unterminated' | 'missing'
  readonly start: number
  readonly end: number
  /** The 1-based line of `start`. */
  readonly line: number
  readonly bodyStart: number
  readonly bodyLine: number
  readonly warnings: readonly SkillWarning[]
}

interface Line {
  readonly text: string
  readonly start: number
  /** Offset after the line end. */
  readonly next: number
  readonly number: number
}

/** Finds the frontmatter of a document without parsing it. Skips a BOM, blank lines and an opening code fence. */
export function findFrontmatter(text: string): FrontmatterPlace {
  const lines = iterateLines(text)
  const opening = findFrontmatterOpening(lines)
  if (!opening) return toMissingPlace(text)
  const inside: Line[] = []
  for (const line of lines) {
    if (isClosingLine(line.text, opening.fenced)) {
      const place = { start: opening.next, end: line.start, line: opening.number + 1 }
      const body = opening.fenced
        ? findBodyAfterFence(lines, line)
        : { bodyStart: line.next, bodyLine: line.number + 1 }
      return { kind: 'closed', ...place, ...body, warnings: listOpeningWarnings(text, opening) }
    }
    inside.push(line)
  }
  return findLeadingKeys(text, inside, listOpeningWarnings(text, opening))
}

/**
 * Finds the readable part of a frontmatter whose closing dashes are really a rule further down in the body: its leading
 * `key: value` lines until the first line that is blank or of another form.
 */
export function cutAtLeadingKeys(text: string, place: FrontmatterPlace): FrontmatterPlace {
  return findLeadingKeys(text, [...iterateLines(text.slice(0, place.end), place.start, place.line)], place.warnings)
}

/** The key at the beginning of an unindented line, or undefined. Only single-word and quoted keys count. */
export function readKey(line: string): string | undefined {
  return keyPattern.exec(line)?.[1]?.replace(/^["']|["']$/g, '')
}

/** The `name` of `## name: pdf`, which some editors make of the first line of a frontmatter, or undefined. */
export function readHeadingKey(line: string): string | undefined {
  return /^#{2,6} (name|description):\s/.exec(line)?.[1]
}

const keyPattern = /^([\p{L}\p{N}_$][\p{L}\p{N}_$./-]{0,127}|"[^"]{1,128}"|'[^']{1,128}')[ \t]{0,8}:(?:\s|$)/u

interface Opening extends Line {
  readonly fenced: boolean
}

/** Yields whole lines from the beginning of the text, up to the maximum length of frontmatter. */
function* iterateLines(text: string, from = text.startsWith('\uFEFF') ? 1 : 0, firstNumber = 1): Generator<Line> {
  const lineEnd = /\r\n|\n|\r/g
  const end = Math.min(text.length, from + frontmatterCharactersMax)
  // Cut first: otherwise the search for the end of a line could run to the end of a long text.
  const head = end < text.length ? text.slice(0, end) : text
  let number = firstNumber
  for (let start = from; start < end; number += 1) {
    lineEnd.lastIndex = start
    const match = lineEnd.exec(head)
    if (!match && end < text.length) return
    const next = match ? lineEnd.lastIndex : end
    yield { text: head.slice(start, match ? match.index : end), start, next, number }
    start = next
  }
}

function findFrontmatterOpening(lines: Generator<Line>): Opening | undefined {
  let fenced = false
  // Not `for of`, which would close the generator that the caller continues to read.
  for (let item = lines.next(); !item.done; item = lines.next()) {
    const { text } = item.value
    if (isDashes(text)) return { ...item.value, fenced }
    if (text.trim() === '') continue
    if (fenced || !/^(?:```|~~~)[\w-]{0,20}\s*$/.test(text)) return undefined
    fenced = true
  }
  return undefined
}

function isDashes(line: string): boolean {
  return line.startsWith('---') && line.trimEnd() === '---'
}

function isClosingLine(line: string, fenced: boolean): boolean {
  return isDashes(line) || (fenced && isFence(line))
}

function isFence(line: string): boolean {
  return /^(?:```|~~~)/.test(line) && line.trimEnd().length === 3
}

/** A code fence around frontmatter often closes right below the frontmatter. The body begins after that line. */
function findBodyAfterFence(lines: Generator<Line>, closing: Line): { bodyStart: number; bodyLine: number } {
  for (let item = lines.next(); !item.done && !isFence(closing.text); item = lines.next()) {
    if (isFence(item.value.text)) return { bodyStart: item.value.next, bodyLine: item.value.number + 1 }
    if (item.value.text.trim() !== '') break
  }
  return { bodyStart: closing.next, bodyLine: closing.number + 1 }
}

function listOpeningWarnings(text: string, opening: Opening): SkillWarning[] {
  const warnings = listBomWarnings(text)
  if (opening.fenced) {
    const message = 'The frontmatter is in a code fence. It must begin on the first line.'
    warnings.push({ code: 'frontmatter_fenced', message, line: opening.number })
  } else if (opening.number > 1) {
    const message = 'There are blank lines before the frontmatter. It must begin on the first line.'
    warnings.push({ code: 'frontmatter_not_first', message, line: opening.number })
  }
  return warnings
}

function listBomWarnings(text: string): SkillWarning[] {
  if (!text.startsWith('\uFEFF')) return []
  return [
    { code: 'bom', message: 'The document begins with a byte order mark; save it as UTF-8 without one.', line: 1 },
  ]
}

function toMissingPlace(text: string): FrontmatterPlace {
  const start = text.startsWith('\uFEFF') ? 1 : 0
  const message = 'The document has no frontmatter; it should begin with `---`, a name and a description.'
  const warnings = [...listBomWarnings(text), { code: 'frontmatter_missing', message, line: 1 }]
  return { kind: 'missing', start, end: start, line: 1, bodyStart: start, bodyLine: 1, warnings }
}

function findLeadingKeys(text: string, lines: Line[], before: readonly SkillWarning[]): FrontmatterPlace {
  const first = lines.findIndex((line) => line.text.trim() !== '')
  const opening = lines[first]
  // Dashes that are not followed by a key are a rule, not frontmatter.
  if (!opening || !(readKey(opening.text) ?? readHeadingKey(opening.text))) return toMissingPlace(text)
  const length = lines.slice(first + 1).findIndex((line) => !isYamlLine(line.text))
  const last = (length === -1 ? lines.at(-1) : lines[first + length]) ?? opening
  const place = { start: opening.start, end: last.next, line: opening.number }
  const message = 'The frontmatter has no closing line of `---`. Only its leading lines were read.'
  const warnings = [...before, { code: 'frontmatter_unterminated', message, line: opening.number }]
  return { kind: 'unterminated', ...place, bodyStart: last.next, bodyLine: last.number + 1, warnings }
}

function isYamlLine(line: string): boolean {
  return readKey(line) !== undefined || (/^(?:[ \t]|- )/.test(line) && line.trim() !== '')
}
