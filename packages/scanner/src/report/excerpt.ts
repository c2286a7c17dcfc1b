const excerptCharactersMax = 160

/**
 * Returns the text from an offset to the end of the line. Replaces invisible characters by U+FFFD, which keeps
 * positions.
 */
export function toExcerpt(text: string, offset: number): string {
  const [line = ''] = text.slice(offset, offset + excerptCharactersMax).split(/[\r\n]/, 1)
  return line.replace(unshownPattern, '\uFFFD').toWellFormed()
}

const unshownPattern = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu
