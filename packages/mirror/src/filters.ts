import type { Filters } from './types.ts'

/** What filters look at; what is absent is not known, and passes none that asks for it. */
export interface Filtered {
  readonly owner: string
  readonly name: string
  readonly keywords?: readonly string[]
  readonly category?: string
  readonly license?: string
  readonly size?: number
}

/**
 * Why something does not pass, in a sentence; undefined where it does. `verified` and `minSecurityScore` are not looked at
 * here: neither is known before somebody asks or scans.
 */
export function explainFiltered(filters: Filters, skill: Filtered): string | undefined {
  const { owners, names, keywords, categories, licenses, sizeMax } = filters
  const fullName = `${skill.owner}/${skill.name}`
  if (owners && !owners.some((pattern) => isMatch(pattern, skill.owner)))
    return `The owner ${skill.owner} is not wanted.`
  if (names && !names.some((pattern) => isNameMatch(pattern, fullName))) return `The name ${fullName} is not wanted.`
  if (keywords && !hasOne(keywords, skill.keywords ?? [])) return 'None of its keywords is wanted.'
  if (categories && !hasOne(categories, [skill.category ?? '']))
    return `The category '${skill.category}' is not wanted.`
  if (licenses && !hasOne(licenses, [skill.license ?? ''])) return `The licence '${skill.license}' is not wanted.`
  if (sizeMax !== undefined && (skill.size ?? Infinity) > sizeMax) return `It is larger than ${sizeMax} bytes.`
  return undefined
}

/** Whether anything is filtered at all. */
export function hasFilters(filters: Filters): boolean {
  return Object.values(filters).some((value) => value !== undefined)
}

/** Whether a full name, or a short one, fits a pattern; one without a slash is about short names, whoever owns them. */
export function isNameMatch(pattern: string, name: string): boolean {
  const short = name.slice(name.indexOf('/') + 1)
  return pattern.includes('/') ? isMatch(pattern, name) : isMatch(pattern, short)
}

function hasOne(wanted: readonly string[], values: readonly string[]): boolean {
  const lower = new Set(values.map((value) => value.toLowerCase()))
  return wanted.some((value) => lower.has(value.toLowerCase()))
}

/** `*` stands for any run of characters. Compared part by part: no pattern can make it slow. */
function isMatch(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const lower = text.toLowerCase()
  if (rest.length === 0) return lower === first
  const last = rest.pop()!
  if (!lower.startsWith(first) || lower.length < first.length + last.length || !lower.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = lower.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= lower.length - last.length
}
