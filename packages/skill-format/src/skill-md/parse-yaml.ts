import { parseDocument, type Document } from 'yaml'

/** Parses a piece of YAML; undefined when the parser gives up on it altogether. */
export function parseYaml(source: string): Document.Parsed | undefined {
  if (nestsTooDeep(source)) return undefined
  try {
    return parseDocument(source, {
      schema: 'core',
      logLevel: 'silent',
      prettyErrors: false,
      // Ours to notice: the parser compares every key with every other.
      uniqueKeys: false,
    })
  } catch {
    // Its recursion overflows on what is nested too deeply.
    return undefined
  }
}

/** Makes a lone carriage return the end of line that YAML says it is, which the library does not. */
export function toYamlSource(source: string): string {
  return source.includes('\r') ? source.replace(/\r(?!\n)/g, '\n') : source
}

/** Brackets without end take a recursive parser longest; quoted ones count too, which no honest text notices. */
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
