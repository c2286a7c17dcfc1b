import { toVisibleText } from './visible-text.ts'

/** The result as one line of JSON without characters that control a terminal. */
export function toJsonLine(result: unknown): string {
  return escapeJson(JSON.stringify(result))
}

/**
 * JSON with the same values, in which control and invisible characters are escaped, also the ones that JSON allows in
 * strings: C1 controls are commands to a terminal, and other characters make it reverse or hide text.
 */
export function escapeJson(json: string): string {
  return json.replaceAll(/[\x7F-\x9F\u2028\u2029\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, toEscapes)
}

/** The `\u` escapes of a character: two for a character beyond U+FFFF, as JSON requires. */
function toEscapes(character: string): string {
  return Array.from({ length: character.length }, (_, i) => {
    return `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`
  }).join('')
}

/** Untrusted text as one line for a terminal. Line breaks, control characters and direction marks become spaces. */
export function toOneLine(written: string): string {
  return toVisibleText(written.replaceAll(/[\p{Cc}\s\u202A-\u202E\u2066-\u2069]+/gu, ' ')).trim()
}

/** Untrusted text for a terminal, with its line breaks. Control and invisible characters are removed. */
export function toPlainText(written: string): string {
  return toVisibleText(written.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n'))
}

/** Untrusted text as one entry of a log: lines after the first are indented, so that none looks like another entry. */
export function toLogText(written: string): string {
  return toPlainText(written).replaceAll('\n', '\n    ')
}

/**
 * The first `max` entries of a list that people read, and the number of entries left out. The number is never 1:
 * showing a single last entry takes no more room than the number.
 */
export function cutList<Item>(list: readonly Item[], max: number): { shown: readonly Item[]; more: number } {
  const shown = list.length === max + 1 ? list : list.slice(0, max)
  return { shown, more: list.length - shown.length }
}
