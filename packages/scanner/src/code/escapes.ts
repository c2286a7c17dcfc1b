const escapePattern =
  /\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|u\{([\dA-Fa-f]{1,6})\}|U([\dA-Fa-f]{8})|([0-7]{1,3})|(\r?\n)|([^]))/g
const letters: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' }

/** The value of the inside of a string literal of Python or JavaScript. */
export function readEscapes(source: string): string {
  if (!source.includes('\\')) return source
  return source.replace(
    escapePattern,
    (_, x?: string, u?: string, braced?: string, long?: string, octal?: string, newline?: string, letter?: string) => {
      const hex = x ?? u ?? braced ?? long
      if (hex !== undefined) return toCharacter(Number.parseInt(hex, 16))
      if (octal !== undefined) return toCharacter(Number.parseInt(octal, 8))
      return newline === undefined ? (letters[letter!] ?? letter!) : ''
    },
  )
}

function toCharacter(point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd'
}
