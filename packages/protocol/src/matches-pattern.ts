/** Whether a text matches a pattern, in which `*` stands for any characters, in any case. Compares part by part, so no pattern can make it slow. */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const lower = text.toLowerCase()
  if (rest.length === 0) return lower === first
  const last = rest.pop()!
  if (!lower.startsWith(first) || lower.length < first.length + last.length || !lower.endsWith(last)) return false
  let at = first.length
  for (const part of rest) {
    const found = lower.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= lower.length - last.length
}
