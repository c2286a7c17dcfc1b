import { listFirstWords, type Entry } from './completion-entries.ts'

/** Builds the completion script for zsh, with a description of each word. */
export function toZsh(entries: readonly Entry[]): string {
  const firsts = listFirstWords(entries)
  const nouns = firsts.filter(({ verbs }) => verbs.length > 0)
  return `#compdef skillstead
# Completion of skillstead for zsh: source <(skillstead completion zsh)
_skillstead() {
  local -a found
  if (( CURRENT == 2 )); then
    found=(${firsts.map(toDescribed).join(' ')})
    _describe -t commands command found
    return
  fi
  if (( CURRENT == 3 )) && [[ $words[3] != -* ]]; then
    case $words[2] in
${nouns.map(({ word, verbs }) => `      ${word}) found=(${verbs.map(toDescribed).join(' ')}) ;;`).join('\n')}
    esac
    if (( $#found )); then
      _describe -t verbs verb found
      return
    fi
  fi
  case "$words[2] $words[3]" in
${entries
  .filter(({ name }) => name.includes(' '))
  .map(toZshCase)
  .join('\n')}
  esac
  case $words[2] in
${entries
  .filter(({ name }) => !name.includes(' '))
  .map(toZshCase)
  .join('\n')}
  esac
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _skillstead "$@"
else
  compdef _skillstead skillstead
fi
`
}

function toZshCase({ name, options, takesPath }: Entry): string {
  const specs = options.map(({ name: option, help, value, isPath }) => {
    const given = value === undefined ? '' : `:${escapeZshSpec(value)}:${isPath ? '_files' : ' '}`
    return quoteForZsh(`--${option}[${escapeZshSpec(help)}]${given}`)
  })
  const words = name.split(' ').length
  const all = [...specs, quoteForZsh(takesPath ? '*:path:_files' : '*:word: ')]
  return `    '${name}') shift ${words} words; (( CURRENT -= ${words} )); _arguments ${all.join(' ')}; return ;;`
}

function toDescribed({ word, summary }: { word: string; summary: string }): string {
  return quoteForZsh(`${word}:${summary.replaceAll(':', '\\:')}`)
}

/** Escapes characters that _arguments interprets in a message. */
function escapeZshSpec(text: string): string {
  return text.replaceAll(/[\\[\]:]/g, '\\$&')
}

function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
