import { attempt } from './attempt.ts'

/** Maximum nesting depth: legitimate documents are far below this number, and parsers fail far above it. */
const depthMax = 128
/**
 * Maximum number of values. `{}` has 2 bytes as text and can take 100 in memory: 16 MiB of `{},` would become 300 MiB.
 */
const valuesMaxDefault = 1_000_000

/**
 * Options for validating untrusted documents: valibot stops at the first issue. Otherwise each invalid value would add
 * an issue of about 1 KB.
 */
export const firstIssueOnly = { abortEarly: true, abortPipeEarly: true } as const

/** Thrown for JSON that is too large to be parsed safely, well-formed or not. The message is a sentence for people. */
export class JsonLimitError extends SyntaxError {
  override readonly name = 'JsonLimitError'
}

/**
 * Parses untrusted JSON. Throws a `SyntaxError` for text that is not JSON, and a {@link JsonLimitError} for text that
 * nests deeper than 128 levels or has more than `valuesMax` values (default: 1,000,000). Depth and values are counted
 * before V8 parses the text, because some V8 releases (in Node 26.10) corrupt memory at thousands of levels. Validate
 * the value with {@link firstIssueOnly}.
 */
export function parseForeignJson(text: string, { valuesMax = valuesMaxDefault } = {}): unknown {
  checkShape(text, valuesMax)
  return JSON.parse(text)
}

/** The fields of an object; no fields for any other value. */
export function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

/** The fields of an object in untrusted JSON; no fields for text that is not JSON or is over its limits. */
export function readFields(text: string): Readonly<Record<string, unknown>> {
  return toFields(attempt(() => parseForeignJson(text)))
}

/** Whether a value is an object, and not a list. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Checks depth and number of values by brackets and commas outside of strings. The parser finds syntax errors. */
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
      if (depth > depthMax) throw new JsonLimitError(`The JSON nests deeper than ${depthMax} levels.`)
    } else if (code === 0x5d || code === 0x7d) depth -= 1
    if (values > valuesMax) throw new JsonLimitError(`The JSON has more than ${valuesMax} values.`)
  }
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c

/** The index of the quote that closes a string; -1 if the string is not closed. */
function findStringEnd(text: string, start: number): number {
  let end = start
  while ((end = text.indexOf('"', end + 1)) !== -1) {
    let first = end
    while (text.charCodeAt(first - 1) === backslash) first -= 1
    if ((end - first) % 2 === 0) return end
  }
  return -1
}
