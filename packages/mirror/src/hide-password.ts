/** Replaces the username and password in URLs by `***`. A password may contain an `@`. */
export function hidePassword(text: string): string {
  return text.replaceAll(/\/\/[^/\s]+@/g, '//***@')
}
