import { isMap, isScalar, visit, type Document } from 'yaml'
import { parseYaml } from './parse-yaml.ts'

/** Longer than any legitimate frontmatter; the limit prevents a hostile one from blocking the event loop. */
const headCharactersMax = 64 * 1024

/**
 * Whether strict parsers find a name and a description in a SKILL.md: the frontmatter begins on the first line, is
 * valid YAML without duplicate keys, and both values are text. Never throws. Does not check the other rules of
 * `checkPortability`.
 *
 * @example
 * isStrictlyReadable('---\nname: pdf\ndescription: Reads PDFs: pages\n---\n') // false: YAML allows no second colon
 */
export function isStrictlyReadable(text: string): boolean {
  const source = /^\uFEFF?---\r?\n([^]*?)\r?\n---/.exec(text.slice(0, headCharactersMax))?.[1]
  if (source === undefined) return false
  try {
    const doc = parseYaml(source)
    if (!doc || doc.errors.length > 0 || !isMap(doc.contents) || hasDoubleKeys(doc)) return false
    const { name, description } = doc.toJS({ maxAliasCount: 100 }) as Record<string, unknown>
    return typeof name === 'string' && typeof description === 'string'
  } catch {
    // Recursive aliases, or nesting that is too deep.
    return false
  }
}

function hasDoubleKeys(doc: Document.Parsed): boolean {
  let found = false
  visit(doc, {
    Map(_, { items }) {
      const keys = items.map(({ key }) => (isScalar(key) ? key.value : key))
      if (new Set(keys).size === keys.length) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}
