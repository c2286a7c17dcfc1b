/** Far above what honest documents have, and far below what a parser breaks at. */
const depthMax = 128

/**
 * Parses JSON of strangers. Throws a `SyntaxError` for what is none, and for what nests deeper than anything honest
 * does: it is asked before V8 parses it, some releases of which (in Node 26.10) corrupt the memory of the process over
 * thousands of levels.
 */
export function parseForeignJson(text: string): unknown {
  if (nestsDeep(text)) throw new SyntaxError(`It nests deeper than ${depthMax} levels.`)
  return JSON.parse(text)
}

function nestsDeep(text: string): boolean {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = findStringEnd(text, at)
      if (at === -1) return false
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1
      if (depth > depthMax) return true
    } else if (code === 0x5d || code === 0x7d) depth -= 1
  }
  return false
}

const quote = 0x22
const backslash = 0x5c

/** The place of the quote that closes a string; -1 where none does. */
function findStringEnd(text: string, start: number): number {
  let end = start
  while ((end = text.indexOf('"', end + 1)) !== -1) {
    let first = end
    while (text.charCodeAt(first - 1) === backslash) first -= 1
    if ((end - first) % 2 === 0) return end
  }
  return -1
}
