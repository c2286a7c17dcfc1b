import type { Command, Option } from './command.ts'
import { summaries } from './commands.ts'

/** The list of commands. */
export function showHelp(): string {
  const width = Math.max(...Object.keys(summaries).map((name) => name.length))
  const lines = Object.entries(summaries).map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'skillstead: the registry for agent skills',
    '',
    ...lines,
    '',
    'Every command works on a folder (--data DIR), a database (--database-url URL) or, where it makes sense, a running',
    'node (--url URL), and takes --json. `skillstead COMMAND --help` says more.',
  ].join('\n')
}

/** What one command takes. */
export function showCommandHelp(name: string, command: Command): string {
  const options = Object.entries<Option>({ ...command.options, json: { help: 'print the result as one line of JSON' } })
  const heads = options.map(([option, { value }]) => `--${option}${value ? ` ${value}` : ''}`)
  const width = Math.max(...heads.map((head) => head.length))
  return [
    `skillstead ${[name, ...command.words].join(' ')}`,
    '',
    command.summary,
    '',
    ...options.map(([, { help }], i) => `  ${heads[i]!.padEnd(width)}  ${help}`),
  ].join('\n')
}
