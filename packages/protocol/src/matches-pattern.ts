/** Whether a text matches a pattern, in which `*` stands for any characters. Upper and lower case are equal. */
export function matchesPattern(pattern: string, text: string): boolean {
  return matchesExactly(pattern.toLowerCase(), text.toLowerCase())
}

/** As {@link matchesPattern}, but case-sensitive. Compares part by part, so no pattern can make the comparison slow. */
export function matchesExactly(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  if (rest.length === 0) return text === first
  const last = rest.pop()!
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
