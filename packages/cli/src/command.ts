import type { ParseArgsOptionDescriptor } from 'node:util'
import type { Io } from './io.ts'
import type { Output } from './output.ts'
import type { Line } from './style.ts'

/** One option of a command; `value` names what is given to it in the help, flags have none. */
export interface Option {
  readonly value?: string
  readonly help: string
  /** Read where the option is not given. */
  readonly env?: string
}

/** What a command was given: its words, its options by name, and the environment and streams that it works with. */
export interface Arguments {
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
  readonly io: Io
}

/** A command as a row: what it takes, what it does, and how its result reads for people. */
export interface Command<Result = unknown> {
  readonly summary: string
  /** The words it takes, as in `PATH` or `[NAME]`; the last one may stand for several, as in `NAME...` or `[NAME...]`. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, Option>>
  run(given: Arguments, output: Output): Promise<Result>
  /** The result in lines; with --json the result is printed as it is. */
  show(result: Result, io: Io): Line[]
  /** Whether it prints its result while it runs, also with --json. */
  readonly printsItself?: true
  /** Whether its lines are for programs too, which get them as they are: it looks itself what a terminal may see. */
  readonly isExact?: true
  /** Whether the result, though it is shown, is a failure to scripts: exit code 1. */
  hasFailed?(result: Result): boolean
}

/** What went wrong before a command began: exit code 2 instead of 1. */
export class UsageError extends Error {}

/** The text of an option, or undefined. */
export function text(given: Arguments, name: string): string | undefined {
  const value = given.options[name]
  return typeof value === 'string' ? value : undefined
}

/** The one of `choices` that was given; undefined where nothing was. Throws {@link UsageError} that lists them. */
export function choice<T extends string>(
  given: string | undefined,
  choices: readonly T[],
  what: string,
): T | undefined {
  const found = choices.find((one) => one === given)
  if (given !== undefined && !found) throw new UsageError(`'${given}' is no ${what}; there are ${choices.join(', ')}.`)
  return found
}

/** Whether a flag was given. */
export function flag(given: Arguments, name: string): boolean {
  return given.options[name] === true
}

/** The options as `node:util` reads them. */
export function toParseOptions(options: Readonly<Record<string, Option>>): Record<string, ParseArgsOptionDescriptor> {
  const entries = Object.entries(options).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }])
  return Object.fromEntries(entries) as Record<string, ParseArgsOptionDescriptor>
}
