import type { Io } from '../terminal/io.ts'
import type { Output } from '../terminal/output.ts'
import type { Line } from '../terminal/style.ts'

/** One option of a command. `value` is the placeholder of its value in the help; a flag has no placeholder. */
export interface Option {
  readonly value?: string
  readonly help: string
  /** The allowed values, which the help lists. Default: any. */
  readonly choices?: readonly string[]
  /** Environment variable that sets the option if it is not given; a flag takes `true` or `false`. */
  readonly env?: string
  /** A second variable, which hosting platforms set, such as PORT. It counts if `isMeant` accepts its value. */
  readonly hostEnv?: { readonly name: string; isMeant(value: string): boolean }
  /** Whether help and completion leave the option out, because a configuration file is a better place for it. */
  readonly isRare?: true
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
  : Placeholders extends readonly []
    ? []
    : readonly (string | undefined)[]

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
  /** Whether other programs read the lines, so that they are printed unchanged unless standard output is a terminal. */
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
  return one
}

/** A usage error, found before the command began: exit code 2 instead of 1. */
export class UsageError extends Error {}

/** The value of an option, or undefined. `T` is the type of its choices, which are checked before the command runs. */
export function textOption<T extends string = string>(given: Arguments, name: string): T | undefined {
  const value = given.options[name]
  return typeof value === 'string' ? (value as T) : undefined
}

/** Whether a flag is set. */
export function flag(given: Arguments, name: string): boolean {
  return given.options[name] === true
}
