import { parseArgs } from 'node:util'
import { RegistryError } from '@skillstead/protocol'
import { UsageError, toParseOptions, type Arguments, type Command } from './command.ts'
import { commands } from './commands.ts'
import { listVerbs, showCommandHelp, showHelp, showVerbs } from './help.ts'
import type { Io } from './io.ts'
import { createOutput, toJsonLine, toOneLine, toPlainText, type Output } from './output.ts'
import { findStorageSentence } from './storage-sentence.ts'
import { readVersion } from './version.ts'

/** Runs a command line; the number is its exit code: 0, 1 for a failure, 2 for what cannot be understood. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const output = createOutput(io, args.includes('--json'))
  try {
    return await dispatch(args, io, output)
  } catch (error) {
    return fail(error, output)
  }
}

async function dispatch(args: readonly string[], io: Io, output: Output): Promise<number> {
  const { name, load, rest } = findCommand(args)
  if (!load) {
    output.print(args[0] === '--version' ? readVersion() : findHelp(args))
    return 0
  }
  const command = await load()
  if (rest.includes('--help') || rest.includes('-h')) {
    output.print(showCommandHelp(name, command))
    return 0
  }
  const result = await command.run(readArguments(name, command, rest, io), output)
  if (output.json) {
    if (!command.printsItself && result !== undefined) output.print(toJsonLine(result))
  } else for (const line of command.show(result, io)) output.print(command.isExact ? line : toPlainText(line))
  return command.hasFailed?.(result) ? 1 : 0
}

/** What is to be said where no command is named; throws {@link UsageError} where one was to be. */
function findHelp(args: readonly string[]): string {
  const [first = 'help', ...rest] = args
  if (['help', '--help', '-h'].includes(first)) return (rest[0] && showVerbs(rest[0])) ?? showHelp()
  const verbs = showVerbs(first)
  if (first.startsWith('-')) throw new UsageError(`Say the command before ${first}. \`skillstead help\` lists them.`)
  if (verbs === undefined) throw new UsageError(`There is no command '${first}'. \`skillstead help\` lists them.`)
  if (rest.some((word) => word === '--help' || word === '-h')) return verbs
  const wrong = rest[0] === undefined || rest[0].startsWith('-') ? '' : `, and '${rest[0]}' is none`
  throw new UsageError(`\`skillstead ${first}\` needs a verb${wrong}: there are ${listVerbs(first).join(', ')}.`)
}

function findCommand(args: readonly string[]) {
  const [first = '', second = ''] = args
  const pair = `${first} ${second}`
  if (Object.hasOwn(commands, pair)) return { name: pair, load: commands[pair], rest: args.slice(2) }
  if (Object.hasOwn(commands, first)) return { name: first, load: commands[first], rest: args.slice(1) }
  return { name: first, load: undefined, rest: [] }
}

function readArguments(name: string, command: Command, rest: readonly string[], io: Io): Arguments {
  const json = { json: { help: 'print the result as one line of JSON' } }
  const known = { ...command.options, ...json }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...rest], options: toParseOptions(known), allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${toSentence(error)} \`skillstead ${name} --help\` lists what it takes.`)
  }
  const needed = command.words.filter((word) => !word.startsWith('['))
  const words = parsed.positionals
  if (words.length < needed.length)
    throw new UsageError(
      `${needed[words.length]!.replace(/\.\.\.$/, '')} is missing: skillstead ${name} ${command.words.join(' ')}`,
    )
  const takesSeveral = /\.\.\.\]?$/.test(command.words.at(-1) ?? '')
  if (words.length > command.words.length && !takesSeveral)
    throw new UsageError(`'${words[command.words.length]}' is one word too many for \`skillstead ${name}\`.`)
  const options: Record<string, string | boolean | undefined> = { ...parsed.values } as Arguments['options']
  for (const [option, { env }] of Object.entries(command.options)) {
    if (env && options[option] === undefined && io.env[env]) options[option] = io.env[env]
  }
  return { words, options, io }
}

/** Node's message without the advice that follows it. */
function toSentence(error: unknown): string {
  const [sentence = 'The options cannot be read.'] = String((error as Error).message).split('. To specify')
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}

function fail(error: unknown, { json, warn }: Output): number {
  const code = error instanceof RegistryError ? error.code : error instanceof UsageError ? 'usage' : 'failed'
  const detail = findStorageSentence(error) ?? (error instanceof Error ? error.message : String(error))
  // What a node says may be a stranger's word.
  const shown = error instanceof RegistryError ? toOneLine(detail) : toPlainText(detail)
  warn(json ? toJsonLine({ error: { code, detail } }) : shown)
  return error instanceof UsageError ? 2 : 1
}
