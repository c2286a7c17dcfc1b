/** The anchor of a heading: as GitHub writes it, behind a prefix that keeps it apart from the ids of the page. */
export function toAnchor(text: string): string {
  const slug = decodeEscapes(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
  return `readme-${slug.slice(0, 100)}`
}

/** A text with its percent escapes decoded; unchanged if one of them is invalid. */
export function decodeEscapes(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The line of a Markdown text that a fragment links to: a heading, or a number as in `L12`; otherwise undefined. */
export function findFragmentLine(text: string, fragment: string): number | undefined {
  const line = /^L(\d{1,7})\b/.exec(fragment)?.[1]
  if (line !== undefined) return Number(line)
  const anchor = toAnchor(fragment)
  const at = text.split(/\r\n|\r|\n/).findIndex((one) => one.startsWith('#') && toAnchor(one) === anchor)
  return at === -1 ? undefined : at + 1
}
