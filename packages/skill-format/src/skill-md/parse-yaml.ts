import { parseDocument, type Document, isMap, isScalar, visit } from 'yaml'

/** Parses YAML; undefined if the parser fails altogether. */
export function parseYaml(source: string): Document.Parsed | undefined {
  if (nestsTooDeep(source)) return undefined
  try {
    return parseDocument(source, {
      schema: 'core',
      logLevel: 'silent',
      prettyErrors: false,
      // Our own code finds duplicate keys: the parser would compare every key with every other key.
      uniqueKeys: false,
    })
  } catch {
    // The parser's recursion overflows at deep nesting.
    return undefined
  }
}

/** Converts lone carriage returns, which YAML treats as line ends but the library does not. */
export function toYamlSource(source: string): string {
  return source.includes('\r') ? source.replace(/\r(?!\n)/g, '\n') : source
}

/**
 * Whether brackets nest too deep for a recursive parser. Brackets in quotes count too, which affects no legitimate
 * text.
 */
function nestsTooDeep(source: string): boolean {
  let depth = 0
  for (let index = 0; index < source.length; index += 1) {
    const code = source.charCodeAt(index)
    if (code === 0x5b || code === 0x7b) depth += 1
    else if (code === 0x5d || code === 0x7d) depth -= 1
    if (depth > bracketDepthMax) return true
  }
  return false
}

const bracketDepthMax = 100

/** Maximum number of characters to search for frontmatter, so that a hostile document does not block the event loop. */
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
    const { name, description }: Record<string, unknown> = doc.toJS({ maxAliasCount: 100 })
    return typeof name === 'string' && typeof description === 'string'
  } catch {
    // `toJS` throws for recursive aliases, and for nesting that is too deep.
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
