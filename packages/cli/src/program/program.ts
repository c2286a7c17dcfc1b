import { styleText } from 'node:util'
import { Argument as ProgramArgument, Command as Program, CommanderError, Option as ProgramOption } from 'commander'
import { UsageError, type Arguments, type Command, type Option } from '../command/command.ts'
import { type Environment, type Io, readVariable } from '../terminal/io.ts'
import { hasColours } from '../terminal/style.ts'
import { readProgramVersion } from '../version.ts'
import { commandTable, nouns } from './command-table.ts'

type Execute = (command: Command, given: Arguments) => Promise<void>

const jsonOption: Option = { help: 'print the result as one line of JSON' }
const helpColumns = 120

const footer = `
Commands work on a running node (--url URL, default: the node of \`skillstead login\`), a folder (--data DIR) or a
database (--database-url URL), and take --json. \`skillstead help COMMAND\` shows its options.`

/**
 * Parses a command line and calls `execute` with the command and its arguments. Prints help and the version without a
 * call. Throws {@link UsageError}.
 */
export async function parseCommandLine(args: readonly string[], io: Io, execute: Execute): Promise<void> {
  const [first = 'help', ...rest] = args
  const isHelp = ['help', '--help', '-h'].includes(first)
  const { program, getCurrent } = createProgram(args, io, execute)
  if (isHelp && rest.length === 0) return program.outputHelp()
  try {
    await program.parseAsync(isHelp ? [...rest, '--help'] : [...args], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw new UsageError(toUsageSentence(error, getCurrent()))
  }
}

/** All commands with their summaries. The options of a command are added when the command is used. */
function createProgram(args: readonly string[], io: Io, execute: Execute) {
  const program = new Program('skillstead')
    .usage('COMMAND [options]')
    .description('The registry for agent skills')
    .version(readProgramVersion(), '--version', 'print the version')
    .addHelpText('after', footer)
    .exitOverride()
    .helpOption('-h, --help', 'show this help')
    // An option after the command belongs to the command: `show NAME --version 1.0.0`.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => io.stdout.columns || helpColumns,
      getOutHasColors: () => hasColours(io.stdout, io.env),
    })
    .configureHelp({
      styleTitle: (title) => styleText('bold', title, { validateStream: false }),
      subcommandTerm: (command) => command.name(),
      subcommandDescription: (command) =>
        [command.summary(), command.commands.map((verb) => verb.name()).join(', ')].filter(Boolean).join(': '),
    })
  let current = program
  const loads = new Map<Program, () => Promise<Command>>()
  async function enter(_: Program, command: Program): Promise<void> {
    current = command
    const load = loads.get(command)
    if (load) defineCommand(command, await load(), args, io, execute)
  }
  for (const { name, group, summary, load } of commandTable) {
    const [word = '', verb] = name.split(' ')
    const noun = verb === undefined ? undefined : findNoun(program, word, group)
    const command = (noun ?? program)
      .command(verb ?? word)
      .summary(summary)
      .description(summary)
    loads.set(noun ? command : command.helpGroup(`${group}:`), load)
  }
  for (const parent of [program, ...program.commands]) parent.helpCommand(false).hook('preSubcommand', enter)
  // `skillstead --help` is handled above; an unknown command with --help is an error.
  return { program: program.helpOption(false), getCurrent: () => current }
}

function findNoun(program: Program, word: string, group: string): Program {
  const found = program.commands.find((command) => command.name() === word)
  if (found) return found
  const summary = nouns[word] ?? ''
  return program
    .command(word)
    .usage('VERB [options]')
    .summary(summary)
    .description(summary)
    .helpGroup(`${group}:`)
    .addHelpText('after', `\n\`skillstead ${word} VERB --help\` shows the options of a verb.`)
}

/** Adds the words and options of a command, and its action. */
function defineCommand(program: Program, command: Command, args: readonly string[], io: Io, execute: Execute): void {
  const { description, words = [], choices = {}, options = {} } = command
  if (description !== undefined) program.description(description)
  for (const word of words) {
    const argument = new ProgramArgument(word.startsWith('[') ? word : `<${word}>`)
    const allowed = choices[word]
    program.addArgument(allowed ? argument.choices(allowed) : argument)
  }
  const known = Object.entries<Option>({ ...options, json: jsonOption })
  for (const [name, option] of known) program.addOption(toProgramOption(name, option, args))
  program.action(() => {
    const values = known.map(([name, option], i) => [name, readValue(program, i) ?? readSetting(io.env, option)])
    return execute(command, { words: program.args, options: Object.fromEntries(values), io })
  })
}

/** The value of an option's environment variable. Throws {@link UsageError} that names the variable, without its value. */
function readSetting(env: Environment, option: Option): string | boolean | undefined {
  const { env: name, hostEnv, choices } = option
  if (name === undefined) return undefined
  const value = readVariable(env, name)
  if (value === undefined) {
    const hosted = hostEnv && readVariable(env, hostEnv.name)
    return hosted !== undefined && hostEnv!.isMeant(hosted) ? hosted : undefined
  }
  const allowed = option.value === undefined ? ['true', 'false'] : choices
  if (allowed && !allowed.includes(value)) throw new UsageError(`${name} must be one of ${allowed.join(', ')}.`)
  if (option.value === undefined) return value === 'true'
  if (!name.endsWith('_KEY') || /^[\x21-\x7e]+$/.test(value)) return value
  throw new UsageError(`${name} contains a character that a key cannot have, such as a space or a line break.`)
}

function toProgramOption(name: string, given: Option, args: readonly string[]): ProgramOption {
  const { value, help, choices, isRare } = given
  const option = new ProgramOption(value === undefined ? `--${name}` : `--${name} <${value}>`, help).hideHelp(
    isRare ?? false,
  )
  if (value === undefined) return option
  if (choices) return option.choices(choices)
  return option.argParser((written: string) => {
    // A separate word that begins with a hyphen is more likely the next option than the value.
    if (written.length > 1 && written.startsWith('-') && args.includes(written))
      throw new UsageError(
        `--${name} needs a value, ${value}. If '${written}' is the value, write --${name}=${written}.`,
      )
    return written
  })
}

/** The value of an option; undefined if it was not given. Commander stores `--no-x` as false under the name `x`. */
function readValue(program: Program, index: number): string | boolean | undefined {
  const option = program.options[index]!
  const value: string | boolean | undefined = program.getOptionValue(option.attributeName())
  return option.negate ? value === false : value
}

/** An error of the command line in one sentence, and what to run next. */
function toUsageSentence({ code, message }: CommanderError, at: Program): string {
  const [what = '', meant = ''] = message.replace(/^error: /, '').split('\n')
  const suggestion = code === 'commander.help' ? '' : meant.replace(/^\((.*)\)$/, ' $1')
  const name = [at.parent?.parent && at.parent.name(), at.parent && at.name()].filter(Boolean).join(' ')
  if (name === '') {
    const option = code === 'commander.unknownOption' ? /'(.*)'/.exec(what)?.[1] : undefined
    const sentence = option === undefined ? `${toUpper(what)}.${suggestion}` : `Put the command before ${option}.`
    return `${sentence} Run \`skillstead help\` for the list of commands.`
  }
  const verbs = at.commands.map((verb) => verb.name())
  if (verbs.length > 0 && at.options.length === 0) {
    const wrong = code === 'commander.unknownCommand' ? what.replace(/^unknown command /, ', not ') : ''
    return `\`skillstead ${name}\` needs one of ${verbs.join(', ')}${wrong}.${suggestion}`
  }
  const next =
    code === 'commander.missingArgument'
      ? `Usage: skillstead ${name} ${at.usage().replace('[options] ', '')}`
      : `Run \`skillstead ${name} --help\` for its usage.`
  const sentence = plainer.reduce((text, [pattern, words]) => text.replace(pattern, words), what)
  return `${toUpper(sentence).replace(/\.$/, '')}.${suggestion} ${next}`
}

/** Plainer words for errors of Commander. */
const plainer: readonly (readonly [RegExp, string])[] = [
  [/^option '(\S+) .*' argument missing$/, '$1 needs a value'],
  [/^option '(\S+) .*' argument ('.*') is invalid\. Allowed choices are/, '$2 is not a valid value of $1. Use one of'],
  [
    /^command-argument value ('.*') is invalid for argument '(.*)'\. Allowed choices are/,
    '$1 is not a valid $2. Use one of',
  ],
  [/^missing required argument '(.*)'$/, '$1 is missing'],
]

function toUpper(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1)
}
