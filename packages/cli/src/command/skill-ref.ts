/** A skill as named on the command line: `owner/name` or a short name, with an optional `@version`. */
export interface SkillWord {
  readonly name: string
  readonly version?: string
}

/** Parses the name of a skill. The registry validates the name itself. */
export function parseSkillWord(word: string): SkillWord {
  const at = word.lastIndexOf('@')
  return at > 0 ? { name: word.slice(0, at), version: word.slice(at + 1) } : { name: word }
}
