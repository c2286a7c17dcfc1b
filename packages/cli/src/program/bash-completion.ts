import { listFirstWords, type Entry } from './completion-entries.ts'

/** Builds the completion script for bash 3.2 and later. The script calls no program, so that completion is fast. */
export function toBash(entries: readonly Entry[]): string {
  const firsts = listFirstWords(entries)
  const nouns = firsts.filter(({ verbs }) => verbs.length > 0)
  return `# Completion of skillstead for bash: source <(skillstead completion bash)
_skillstead() {
  local IFS=$' \\t\\n'
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}" verbs='' options='' valued='' paths='' files=''
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${firsts.map(({ word }) => word).join(' ')} help' -- "$cur"))
    return
  fi
  case "$first" in
${nouns.map(({ word, verbs }) => `    ${word}) verbs='${verbs.map((verb) => verb.word).join(' ')}' ;;`).join('\n')}
  esac
  case "$first $second" in
${toSpecificFirst(entries).map(toBashCase).join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$verbs" ] && [ "\${cur#-}" = "$cur" ]; then
    COMPREPLY=($(compgen -W "$verbs" -- "$cur"))
    return
  fi
  case " $valued " in *" $prev "*) return ;; esac
  case " $paths " in *" $prev "*) files=1; cur="\${cur#=}" ;; *)
    if [ "\${cur#-}" != "$cur" ]; then
      COMPREPLY=($(compgen -W "$options" -- "$cur"))
      return
    fi ;;
  esac
  if [ -n "$files" ]; then
    IFS=$'\\n'
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _skillstead skillstead
`
}

/** The entries with a noun and its verb first: the pattern of the noun alone would match both. */
function toSpecificFirst(entries: readonly Entry[]): Entry[] {
  return entries.toSorted((a, b) => Number(b.name.includes(' ')) - Number(a.name.includes(' ')))
}

function toBashCase({ name, options, takesPath }: Entry): string {
  const parts = [
    `options='${toOptionWords(options)}'`,
    `valued='${toOptionWords(options.filter(({ value, isPath }) => value !== undefined && !isPath))}'`,
    `paths='${toOptionWords(options.filter(({ isPath }) => isPath))}'`,
    ...(takesPath ? ['files=1'] : []),
  ]
  return `    '${name}'${name.includes(' ') ? '' : '\\ *'}) ${parts.join(' ')} ;;`
}

function toOptionWords(options: Entry['options']): string {
  return options.map(({ name }) => `--${name}`).join(' ')
}
