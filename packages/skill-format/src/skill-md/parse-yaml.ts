import { parseDocument, type Document } from 'yaml'

/** Parses YAML; undefined if the parser fails altogether. */
export function parseYaml(source: string): Document.Parsed | undefined {
  if (nestsTooDeep(source)) return undefined
  try {
    return parseDocument(source, {
      schema: 'core',
      logLevel: 'silent',
      prettyErrors: false,
      // Checked by our own code: the parser would compare every key with every other.
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
