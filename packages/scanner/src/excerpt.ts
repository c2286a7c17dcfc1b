const excerptCharactersMax = 160

/** What stands at the place, to the end of the line; what cannot be shown is U+FFFD, so that places stay the same. */
export function toExcerpt(text: string, offset: number): string {
  const [line = ''] = text.slice(offset, offset + excerptCharactersMax).split(/[\r\n]/, 1)
  return line.replace(unshownPattern, '\uFFFD').toWellFormed()
}

const unshownPattern = /[\p{Cc}\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu
