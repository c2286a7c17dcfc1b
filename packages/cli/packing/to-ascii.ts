/**
 * Escapes non-ASCII characters: a single non-ASCII character doubles the memory of a module and the time to read it.
 */
export function toAscii(code: string): string {
  return code.replace(/\\[^\x80-\uffff]|\\?([\x80-\uffff])/g, (found, unit?: string) =>
    unit === undefined ? found : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
