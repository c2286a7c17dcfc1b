import { parseArgs } from 'node:util'
import { RegistryError } from '@skillstead/protocol'
import { UsageError, toParseOptions, type Arguments, type Command } from './command.ts'
import { commands } from './commands.ts'
import { listVerbs, showCommandHelp, showHelp, showVerbs } from './help.ts'
import type { Io } from './io.ts'
import { findNearest } from './nearest.ts'
import { findNetworkSentence } from './network-sentence.ts'
import { createOutput, toJsonLine, toOneLine, type Output } from './output.ts'
import { findStorageSentence } from './storage-sentence.ts'
import { styled, type Line } from './style.ts'
import { readVersion } from './version.ts'

/** Runs a command line and returns its exit code: 0, 1 for a failure, 2 for wrong usage. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const output = createOutput(io, args.includes('--json'))
  try {
    return await dispatch(args, io, output)
  } catch (error) {
    return fail(error, output)
  }
}

async function dispatch(args: readonly string[], io: Io, output: Output): Promise<number> {
  const [first = 'help'] = args
  if (first === '--version') return show([readVersion()], output)
  if (helpWords.has(first)) return show(await findHelp(args.slice(1)), output)
  const { name, load, rest } = findCommand(args)
  const asksHelp = rest.includes('--help') || rest.includes('-h')
  if (!load) return show(asksHelp ? await findHelp([name]) : refuseName(name, rest), output)
  const command = await load()
  if (asksHelp) return show(showCommandHelp(name, command), output)
  const result = await command.run(readArguments(name, command, rest, io), output)
  if (output.json) {
    if (!command.printsItself && result !== undefined) output.print(toJsonLine(result))
  } else if (command.isExact) command.show(result, io).forEach((line) => output.print(String(line)))
  else show(command.show(result, io), output)
  return command.hasFailed?.(result) ? 1 : 0
}

const helpWords: ReadonlySet<string> = new Set(['help', '--help', '-h'])

function show(lines: readonly Line[], output: Output): 0 {
  for (const line of lines) output.show(line)
  return 0
}

/** The help of the command or noun that the words name; without words, the list of commands. */
async function findHelp(words: readonly string[]): Promise<readonly Line[]> {
  const { name, load } = findCommand(words)
  if (name === '') return showHelp()
  const verbs = showVerbs(name)
  if (load) return [...showCommandHelp(name, await load()), ...(verbs ? ['', ...verbs] : [])]
  return verbs ?? refuseName(name, [])
}

/** Throws a {@link UsageError} that suggests the command that was probably meant. */
function refuseName(name: string, [verb]: readonly string[]): never {
  if (name.startsWith('-'))
    throw new UsageError(`Put the command before ${name}. Run \`skillstead help\` for the list of commands.`)
  const verbs = listVerbs(name)
  if (verbs.length > 0) {
    const wrong = verb === undefined || verb.startsWith('-') ? '' : `, not '${verb}'`
    const meant = toSuggestion(findNearest(verb ?? '', verbs))
    throw new UsageError(`\`skillstead ${name}\` needs one of ${verbs.join(', ')}${wrong}.${meant}`)
  }
  const words = [...new Set(Object.keys(commands).flatMap((one) => [one.split(' ')[0]!, one]))]
  const pair = verb === undefined ? undefined : findNearest(`${name} ${verb}`, words)
  const meant = toSuggestion(findNearest(name, words) ?? pair)
  throw new UsageError(`Unknown command '${name}'.${meant} Run \`skillstead help\` for the list of commands.`)
}

function toSuggestion(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean '${name}'?`
}

function findCommand(args: readonly string[]) {
  const [first = '', second = ''] = args
  const pair = `${first} ${second}`
  if (Object.hasOwn(commands, pair)) return { name: pair, load: commands[pair], rest: args.slice(2) }
  if (Object.hasOwn(commands, first)) return { name: first, load: commands[first], rest: args.slice(1) }
  return { name: first, load: undefined, rest: args.slice(1) }
}

function readArguments(name: string, command: Command, rest: readonly string[], io: Io): Arguments {
  const json = { json: { help: 'print the result as one line of JSON' } }
  const known = { ...command.options, ...json }
  let parsed: ReturnType<typeof parseArgs>
  try {
    parsed = parseArgs({ args: [...rest], options: toParseOptions(known), allowPositionals: true, strict: true })
  } catch (error) {
    throw new UsageError(`${toSentence(error)} Run \`skillstead ${name} --help\` for its options.`)
  }
  const needed = command.words.filter((word) => !word.startsWith('['))
  const words = parsed.positionals
  if (words.length < needed.length)
    throw new UsageError(
      `${needed[words.length]!.replace(/\.\.\.$/, '')} is missing. Usage: skillstead ${name} ${command.words.join(' ')}`,
    )
  const takesSeveral = /\.\.\.\]?$/.test(command.words.at(-1) ?? '')
  if (words.length > command.words.length && !takesSeveral)
    throw new UsageError(`Unexpected argument '${words[command.words.length]}' for \`skillstead ${name}\`.`)
  const options: Record<string, string | boolean | undefined> = { ...parsed.values } as Arguments['options']
  for (const [option, { env }] of Object.entries(command.options)) {
    if (env && options[option] === undefined && io.env[env]) options[option] = io.env[env]
  }
  return { words, options, io }
}

/** Node's error message without its advice. */
function toSentence(error: unknown): string {
  const [sentence = 'The options cannot be read.'] = String((error as Error).message).split('. To specify')
  return sentence.endsWith('.') ? sentence : `${sentence}.`
}

function fail(error: unknown, { json, warn, say }: Output): number {
  const code = error instanceof RegistryError ? error.code : error instanceof UsageError ? 'usage' : 'failed'
  const sentence = findStorageSentence(error) ?? findNetworkSentence(error)
  const detail = sentence ?? (error instanceof Error ? error.message : String(error))
  // The message of a node may contain untrusted text.
  const shown = error instanceof RegistryError ? toOneLine(detail) : detail
  if (json) warn(toJsonLine({ error: { code, detail } }))
  else say(styled('bad', shown))
  return error instanceof UsageError ? 2 : 1
}
