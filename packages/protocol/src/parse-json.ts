/** Far above what honest documents have, and far below what a parser breaks at. */
const depthMax = 128
/** A value takes 2 bytes of text and up to 100 bytes of memory: 16 MiB of `{},` would become 300 MiB. */
const valuesMaxDefault = 1_000_000

/**
 * For the validation of documents from outside: valibot stops at the first issue. Without it each wrong value adds an
 * issue of about 1 KB.
 */
export const firstIssueOnly = { abortEarly: true, abortPipeEarly: true } as const

/** JSON that is well-formed or not, and too large to be parsed. The message is a sentence that can be shown. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError'
}

/**
 * Parses JSON from outside. Throws a `SyntaxError` for text that is not JSON, a {@link JsonLimitError} for text that nests
 * deeper than 128 levels or holds more than `valuesMax` values (Default: 1,000,000). Both are counted before V8 parses the text: over thousands of levels some
 * of its releases (in Node 26.10) corrupt memory. Validate the value with {@link firstIssueOnly}.
 */
export function parseForeignJson(text: string, { valuesMax = valuesMaxDefault } = {}): unknown {
  checkShape(text, valuesMax)
  return JSON.parse(text)
}

/** Counts brackets and commas outside of strings; the parser reports what is malformed. */
function checkShape(text: string, valuesMax: number): void {
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = findStringEnd(text, at)
      if (at === -1) return
    } else if (code === comma) values += 1
    else if (code === 0x5b || code === 0x7b) {
      values += 1
      depth += 1
      if (depth > depthMax) throw new JsonLimitError(`It nests deeper than ${depthMax} levels.`)
    } else if (code === 0x5d || code === 0x7d) depth -= 1
    if (values > valuesMax) throw new JsonLimitError(`It holds more than ${valuesMax} values.`)
  }
}

const quote = 0x22
const comma = 0x2c
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
