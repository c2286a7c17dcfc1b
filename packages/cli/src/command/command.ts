import { readFileSync } from 'node:fs'
import { toOneLine } from '@skillstead/protocol'
import type { Io } from '../terminal/io.ts'
import type { Output } from '../terminal/output.ts'
import type { Line } from '../terminal/style.ts'

/** One option of a command. `value` is the placeholder of its value in the help; flags have none. */
export interface Option {
  readonly value?: string
  readonly help: string
  /** The allowed values, which the help lists. Default: any. */
  readonly choices?: readonly string[]
  /** Environment variable that sets the option if it is not given. */
  readonly env?: string
}

export type Options = Readonly<Record<string, Option>>

/** The arguments of a command: positional words, options by name, and the environment and streams. */
export interface Arguments<Words = readonly (string | undefined)[]> {
  readonly words: Words
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly io: Io
}

/** The words of a command by their placeholders: `NAME` is required, `[NAME]` optional, `NAME...` repeats. */
export type WordsOf<Placeholders extends readonly string[]> = Placeholders extends readonly [
  infer First extends string,
  ...infer Rest extends readonly string[],
]
  ? First extends `[${string}...]`
    ? string[]
    : First extends `${string}...`
      ? [string, ...string[]]
      : First extends `[${string}]`
        ? [string?, ...WordsOf<Rest>]
        : [string, ...WordsOf<Rest>]
  : []

/** A command: its arguments, its action, and the text of its result. */
export interface Command<Result = unknown, Placeholders extends readonly string[] = readonly string[]> {
  /** What `help COMMAND` shows. Default: the summary of the command table. */
  readonly description?: string
  /** Positional arguments, such as `PATH` or `[NAME]`; the last may repeat, as in `NAME...` or `[NAME...]`. */
  readonly words?: Placeholders
  /** The allowed values of positional arguments. Default: any. */
  readonly choices?: { readonly [Name in Placeholders[number]]?: readonly string[] }
  readonly options?: Options
  run(given: Arguments<WordsOf<Placeholders>>, output: Output): Promise<Result>
  /** The result as lines of text; with --json the result itself is printed. Default: none. */
  show?(result: Result, io: Io): readonly Line[]
  /** Whether the command prints its result while it runs, also with --json. */
  readonly printsItself?: true
  /**
   * Whether programs read the lines, so that they are printed unchanged unless standard output is a terminal.
   */
  readonly isExact?: true
  /** Whether the result counts as a failure although it is printed: exit code 1. */
  hasFailed?(result: Result): boolean
}

/** A command as the list of commands shows it. */
export interface ListedCommand {
  /** One word, or a noun and its verb. */
  readonly name: string
  readonly group: string
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** Returns the command with the types of its words and its result inferred. */
export function command<Result, const Placeholders extends readonly string[] = []>(
  one: Command<Result, Placeholders>,
): Command<Result> {
  return one as unknown as Command<Result>
}

/** A usage error, found before the command began: exit code 2 instead of 1. */
export class UsageError extends Error {}

/** The value of an option, or undefined. `T` is the type of its choices, which are checked before the command runs. */
export function text<T extends string = string>(given: Arguments, name: string): T | undefined {
  const value = given.options[name]
  return typeof value === 'string' ? (value as T) : undefined
}

/** The comma-separated values of an option without empty ones, or undefined. */
export function list(given: Arguments, name: string): string[] | undefined {
  const parts = text(given, name)?.split(',')
  return parts?.map((part) => part.trim()).filter((part) => part !== '')
}

/** The text of a file that an option names. Throws {@link UsageError} if it cannot be read. */
export function readOptionFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`'${toOneLine(file)}' cannot be read.`, { cause })
  }
}

/** The secret in a file that an option names; `what` is in the error. Throws {@link UsageError} if there is none. */
export function readSecretFile(file: string, what: string): string {
  const secret = readOptionFile(file).trim()
  if (secret === '') throw new UsageError(`${toOneLine(file)} contains no ${what}.`)
  return secret
}

/** Whether a flag is set. */
export function flag(given: Arguments, name: string): boolean {
  return given.options[name] === true
}

/**
 * Checks that a value is one of `choices`; undefined stays undefined. Throws {@link UsageError} that lists the choices.
 */
export function choice<T extends string>(
  given: string | undefined,
  choices: readonly T[],
  what: string,
): T | undefined {
  const found = choices.find((one) => one === given)
  if (given !== undefined && !found)
    throw new UsageError(`'${given}' is not a valid ${what}. Use one of ${choices.join(', ')}.`)
  return found
}

/** A skill as named on the command line: `owner/name` or a short name, with an optional `@version`. */
export interface SkillWord {
  readonly name: string
  readonly version?: string
}

/** Parses the name of a skill. The registry validates the name itself. */
export function parseSkillWord(word: string): SkillWord {
  const at = word.lastIndexOf('@')
  return at > 0 ? { name: word.slice(0, at), version: word.slice(at + 1) } : { name: word }
}
