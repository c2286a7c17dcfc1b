/** A skill as words of a command name it: `owner/name` or a short name, with `@version` where one is meant. */
export interface SkillWord {
  readonly name: string
  readonly version?: string
}

/** The skill that a word names. What is wrong with a name, the registry says. */
export function parseSkillWord(word: string): SkillWord {
  const at = word.lastIndexOf('@')
  return at > 0 ? { name: word.slice(0, at), version: word.slice(at + 1) } : { name: word }
}
