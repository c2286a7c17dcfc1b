/** Replaces the name and password in URLs. A password may contain an `@`. */
export function hidePassword(text: string): string {
  return text.replaceAll(/\/\/[^/\s]+@/g, '//***@')
}
