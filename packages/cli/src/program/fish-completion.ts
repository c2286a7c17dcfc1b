import { listFirstWords, type Entry } from './completion-entries.ts'

/** Builds the completion script for fish, with a description of each word. */
export function toFish(entries: readonly Entry[]): string {
  const firsts = listFirstWords(entries)
  return `# Completion of skillstead for fish: skillstead completion fish | source
function __skillstead_after
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
function __skillstead_in
    set -l words (commandline -opc)
    string match -q -- "$argv *" "$words[2..-1] "
end
complete -c skillstead -f
${firsts.map((first) => toWord('', first)).join('\n')}
${firsts.flatMap(({ word, verbs }) => verbs.map((verb) => toWord(word, verb))).join('\n')}
${entries.flatMap(toOptions).join('\n')}
`
}

function toWord(after: string, { word, summary }: { word: string; summary: string }): string {
  return `complete -c skillstead -n ${quoteForFish(`__skillstead_after ${after}`.trimEnd())} -a ${word} -d ${quoteForFish(summary)}`
}

function toOptions({ name, options, takesPath }: Entry): string[] {
  const at = `complete -c skillstead -n ${quoteForFish(`__skillstead_in ${name}`)}`
  return [
    ...options.map(({ name: option, help, value, isPath }) => {
      const given = value === undefined ? '' : isPath ? ' -r -F' : ' -x'
      return `${at} -l ${option}${given} -d ${quoteForFish(help)}`
    }),
    ...(takesPath ? [`${at} -F`] : []),
  ]
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`
}
