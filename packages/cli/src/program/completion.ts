import { command, type ListedCommand } from '../command/command.ts'
import { choice } from '../command/values.ts'
import { toBash } from './bash-completion.ts'
import { listEntries } from './completion-entries.ts'
import { toFish } from './fish-completion.ts'
import { toZsh } from './zsh-completion.ts'

const shells = ['bash', 'zsh', 'fish'] as const
const writers = { bash: toBash, zsh: toZsh, fish: toFish }

/** The command that completes the commands of `table`. */
export const createCommands = (table: readonly ListedCommand[]) => ({
  completion: command({
    description:
      'Print a completion script for bash, zsh or fish. Load it when the shell starts: ' +
      'source <(skillstead completion bash), or skillstead completion fish | source.',
    words: ['SHELL'],
    async run({ words: [word] }) {
      const shell = choice(word, shells, 'shell')!
      return { shell, script: writers[shell](await listEntries(table)) }
    },
    show: ({ script }) => [script.trimEnd()],
  }),
})
