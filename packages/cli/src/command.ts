import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import type { Line } from './style.ts'

/** One option of a command. `value` is the placeholder of its value in the help; flags have none. */
export interface Option {
  readonly value?: string
  readonly help: string
  /** Environment variable that sets the option if it is not given. */
  readonly env?: string
}

/** The arguments of a command: positional words, options by name, and the environment and streams. */
export interface Arguments {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly io: Io
}

/** A command: its arguments, its action, and the text of its result. */
export interface Command<Result = unknown> {
  readonly summary: string
  /** Positional arguments, such as `PATH` or `[NAME]`; the last may repeat, as in `NAME...` or `[NAME...]`. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, Option>>
  run(given: Arguments, output: Output): Promise<Result>
  /** The result as lines of text; with --json the result itself is printed. */
  show(result: Result, io: Io): Line[]
  /** Whether the command prints its result while it runs, also with --json. */
  readonly printsItself?: true
  /**
   * Whether programs read the lines, so that they are printed unchanged. The command then escapes terminal controls
   * itself.
   */
  readonly isExact?: true
  /** Whether the result counts as a failure although it is printed: exit code 1. */
  hasFailed?(result: Result): boolean
}

/** A wrong use of a command, found before it began: exit code 2 instead of 1. */
export class UsageError extends Error {}

/** The value of an option, or undefined. */
export function text(given: Arguments, name: string): string | undefined {
  const value = given.options[name]
  return typeof value === 'string' ? value : undefined
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

/** Whether a flag is set. */
export function flag(given: Arguments, name: string): boolean {
  return given.options[name] === true
}

/** The options in the form of `node:util` parseArgs. */
export function toParseOptions(options: Readonly<Record<string, Option>>): Record<string, ParseArgsOptionDescriptor> {
  const entries = Object.entries(options).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }])
  return Object.fromEntries(entries) as Record<string, ParseArgsOptionDescriptor>
}
