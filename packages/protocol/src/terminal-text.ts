/** The result as one line of JSON. Characters that control a terminal are escaped, also those that JSON allows. */
export function toJsonLine(result: unknown): string {
  return JSON.stringify(result).replaceAll(
    /[\x7F-\x9F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Untrusted text as one line for a terminal: control characters that could fake other lines are removed. */
export function toOneLine(written: string): string {
  return written.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}

/** Untrusted text for a terminal, with its line breaks. Cursor movements and bidirectional controls are removed. */
export function toPlainText(written: string): string {
  return written.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '')
}
