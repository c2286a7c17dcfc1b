/** The anchor of a heading: as GitHub writes it, behind a prefix that keeps it apart from the ids of the page. */
export function toAnchor(text: string): string {
  let words = text
  try {
    words = decodeURIComponent(text)
  } catch {
    // A percent sign that encodes nothing.
  }
  const slug = words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
  return `readme-${slug.slice(0, 100)}`
}

/** The line of a heading in a Markdown text, by the fragment that links to it, or by `L12`; undefined without one. */
export function findFragmentLine(text: string, fragment: string): number | undefined {
  const line = /^L(\d{1,7})\b/.exec(fragment)?.[1]
  if (line !== undefined) return Number(line)
  const anchor = toAnchor(fragment)
  const at = text.split(/\r\n|\r|\n/).findIndex((one) => one.startsWith('#') && toAnchor(one) === anchor)
  return at === -1 ? undefined : at + 1
}
