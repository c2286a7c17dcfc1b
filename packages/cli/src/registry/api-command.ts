import type { RegistryApi } from '@skillstead/protocol'
import { command, text, type Arguments, type Command, type Options, type WordsOf } from '../command/command.ts'
import type { Output } from '../terminal/output.ts'
import type { Line } from '../terminal/style.ts'
import { placeOptions, requireUser, userOption, withApi } from './place.ts'
import { toOutgoing } from './outgoing-options.ts'

interface ApiCommand<Result, Words extends readonly string[]> extends Omit<Command<Result, Words>, 'run'> {
  /**
   * The user without whom the call makes no sense, such as "owner of the fork". A registry in a folder then needs --user,
   * because its operator owns nothing.
   */
  readonly actor?: string
  /** Whether a missing folder is created. */
  readonly make?: boolean
  call(api: RegistryApi, given: Arguments<WordsOf<Words>>, output: Output): Promise<Result>
}

/** A command that calls the API of a node, or of a registry in a folder or database. */
export function apiCommand<Result, const Words extends readonly string[] = []>({
  call,
  actor,
  make,
  ...rest
}: ApiCommand<Result, Words>): Command<Result> {
  const options: Options = { ...(actor && userOption), ...rest.options, ...placeOptions }
  return command<Result, Words>({
    ...rest,
    options,
    async run(given, output) {
      const as = actor && requireUser(given, `The ${actor} is missing. Pass --user NAME.`)
      return withApi(given, (api) => call(api, given, output), { as, make, outgoing: await toOutgoing(given) })
    },
  })
}

/** Rows per page of a list. */
const pageRows = 100

interface ListCommand<Key extends string, Result extends Page<Key>, Words extends readonly string[]> extends Omit<
  ApiCommand<Result, Words>,
  'call' | 'show'
> {
  /** The field of the result that has the rows. */
  readonly rows: Key
  call(api: RegistryApi, page: { limit: number; page?: string }, given: Arguments<WordsOf<Words>>): Promise<Result>
  toLines(row: Result[Key][number]): Line | readonly Line[]
}

type Page<Key extends string> = Readonly<Record<Key, readonly unknown[]>> & { readonly total: number }

/** A command that prints one page of a list, and how many rows there are. */
export function listCommand<Key extends string, Result extends Page<Key>, const Words extends readonly string[] = []>({
  rows,
  call,
  toLines,
  ...rest
}: ListCommand<Key, Result, Words>): Command<Result> {
  return apiCommand<Result, Words>({
    ...rest,
    options: {
      ...rest.options,
      page: { value: 'N', help: `the page to show; a page has ${pageRows} rows. Default: 1` },
    },
    call: (api, given) => call(api, { limit: pageRows, page: text(given, 'page') }, given),
    show: (result) => [
      ...result[rows].flatMap((row: Result[Key][number]) => toLines(row)),
      `${result[rows].length} of ${result.total}.`,
    ],
  })
}
