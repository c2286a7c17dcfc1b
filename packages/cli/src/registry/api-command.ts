import type { RegistryApi } from '@skillstead/protocol'
import { command, type Arguments, type Command, type Options, type WordsOf } from '../command/command.ts'
import type { Output } from '../terminal/output.ts'
import { placeOptions, requireActingUser, userOption, withApi } from './place.ts'
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
      const as = actor && requireActingUser(given, `The ${actor} is missing. Pass --user NAME.`)
      return withApi(given, (api) => call(api, given, output), { as, make, outgoing: await toOutgoing(given) })
    },
  })
}
