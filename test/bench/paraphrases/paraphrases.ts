/** Texts of one category: each is the body of a skill. */
export interface Paraphrases {
  readonly category: string
  readonly malicious: readonly string[]
  readonly honest: readonly string[]
}

/** Splits lists of texts, one a line. */
export function toParaphrases(
  lists: Readonly<Record<string, { malicious: string; honest: string }>>,
): readonly Paraphrases[] {
  return Object.entries(lists).map(([category, { malicious, honest }]) => {
    return { category, malicious: toTexts(malicious), honest: toTexts(honest) }
  })
}

function toTexts(list: string): string[] {
  const lines = list.split('\n').filter((line) => line !== '')
  return lines.map((line) => line.replaceAll('⏎', '\n'))
}
