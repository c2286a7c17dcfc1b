const stemLengthMin = 3

/**
 * Other possible forms of an English word: plurals and verb endings. Many are not words; the caller uses only those
 * that the vocabulary contains. Exact words stay exact, because neither side is stemmed.
 *
 * @example inflectionsOf('deploys') // has 'deploy', 'deployed' and 'deploying'
 */
export function inflectionsOf(word: string): string[] {
  if (!/^[a-z]{4,}$/.test(word)) return []
  const forms = new Set(stemsOf(word).flatMap((stem) => formsOf(stem)))
  forms.delete(word)
  return [...forms]
}

/** The stems that a word may be a form of, including itself. */
function stemsOf(word: string): string[] {
  const stems = [word]
  if (/[^su]s$/.test(word)) stems.push(word.slice(0, -1))
  if (/(?:s|x|z|ch|sh)es$/.test(word)) stems.push(word.slice(0, -2))
  if (/ie[sd]$/.test(word)) stems.push(`${word.slice(0, -3)}y`)
  const verb = /^(.*[aeiouy].*)(?:ing|ed)$/.exec(word)?.[1]
  if (verb) stems.push(verb, `${verb}e`)
  if (verb && /([^aeiouls])\1$/.test(verb)) stems.push(verb.slice(0, -1))
  return stems.filter((stem) => stem.length >= stemLengthMin)
}

function formsOf(stem: string): string[] {
  const forms = [stem, `${stem}s`]
  if (stem.endsWith('e')) return [...forms, `${stem}d`, `${stem.slice(0, -1)}ing`]
  if (/[^aeiou]y$/.test(stem)) return [...forms, `${stem.slice(0, -1)}ies`, `${stem.slice(0, -1)}ied`, `${stem}ing`]
  if (/(?:s|x|z|ch|sh)$/.test(stem)) forms.push(`${stem}es`)
  // `plan` doubles its last letter: `planning`.
  const doubled = /^[^aeiou]*[aeiou][^aeiouwxy]$/.test(stem) ? stem + stem.at(-1)! : stem
  return [...forms, `${stem}ed`, `${stem}ing`, `${doubled}ed`, `${doubled}ing`]
}
