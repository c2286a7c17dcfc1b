import { isMap, isScalar, visit, type Document } from 'yaml'
import { parseYaml } from './parse-yaml.ts'

/** No honest frontmatter is longer, and a hostile one must not hold the event loop. */
const headCharactersMax = 64 * 1024

/**
 * Whether programs that forgive nothing find a name and a description in a SKILL.md: a frontmatter from the first line on
 * that is YAML, with no key twice, and both of them text. Never throws. The rest of what `checkPortability` asks for is
 * of no matter here.
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
    // Aliases without end, or nested too deeply.
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
