/** Where a command says what it is doing: people read it on standard error, programs get the one line of its result. */
export interface Output {
  readonly json: boolean
  /** A line for people while the command runs; silent with --json. */
  say(line: string): void
}

export function createOutput(json: boolean): Output {
  return { json, say: (line) => void (json || console.error(toPlainText(line))) }
}

/** A result as one line of JSON that a terminal does not obey either: what JSON leaves as it is, is escaped. */
export function toJsonLine(result: unknown): string {
  return JSON.stringify(result).replaceAll(
    /[\x7F-\x9F\u2028\u2029\u202A-\u202E\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** What strangers wrote, for a terminal: one line, and no control characters that could fake others. */
export function toOneLine(written: string): string {
  return written.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()
}

/** What strangers wrote, for a terminal, in its own lines: nothing in it moves the cursor or turns the text around. */
export function toPlainText(written: string): string {
  return written.replaceAll(/\r\n?/g, '\n').replaceAll(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu, '')
}
