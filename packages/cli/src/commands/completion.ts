import { choice, type Command } from '../command.ts'
import { toBash } from '../completion/bash.ts'
import { listEntries, type CommandTable, type Entry } from '../completion/entries.ts'
import { toFish } from '../completion/fish.ts'
import { toZsh } from '../completion/zsh.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]
const writers: Record<Shell, (entries: readonly Entry[]) => string> = { bash: toBash, zsh: toZsh, fish: toFish }

/** `skillstead completion SHELL`. */
export const createCompletion = (
  commands: CommandTable,
  summaries: Readonly<Record<string, string>>,
): Command<{ shell: Shell; script: string }> => ({
  summary:
    'Print a completion script for bash, zsh or fish. Load it when the shell starts: ' +
    'source <(skillstead completion bash), or skillstead completion fish | source.',
  words: ['SHELL'],
  options: {},
  async run(given) {
    const shell = choice(given.words[0], shells, 'shell')!
    return { shell, script: writers[shell](await listEntries(commands, summaries)) }
  },
  show: ({ script }) => [script.trimEnd()],
})
