import { endpoints, type EndpointName, type RegistryApi } from '@skillstead/protocol'
import type { Arguments, Command, Option } from '../command/command.ts'
import type { Line } from '../terminal/style.ts'
import { apiCommand } from './api-command.ts'

type Answer<Name extends EndpointName> = Awaited<ReturnType<RegistryApi[Name]>>
type Field<Name extends EndpointName> = Extract<keyof NonNullable<Parameters<RegistryApi[Name]>[0]>, string>

/**
 * A command that calls one endpoint: what the command line calls the fields of its input, and how people see its
 * output.
 */
interface EndpointCommand<Name extends EndpointName, Result> extends Pick<
  Command<Result>,
  'description' | 'isExact' | 'show'
> {
  /** The positional arguments in order, such as `ID` or `[NAME]`, each with the field that it sets. */
  readonly words?: Readonly<Record<string, Field<Name>>>
  /** Options that set a field. Default for `field`: the name of the option in camel case. */
  readonly options?: Readonly<Record<string, Option & { readonly field?: Field<Name> }>>
  /** Fields of the input that the command line does not set. */
  readonly fixed?: { readonly [F in Field<Name> | 'limit']?: unknown }
  /** As the fields `actor` and `make` of {@link apiCommand}. */
  readonly actor?: string
  readonly make?: boolean
  /** Makes the result from the output and the input. Default: the output. */
  toResult?(answer: Answer<Name>, input: Readonly<Record<Field<Name>, string>>): Result
}

/**
 * A command from the endpoint table. Arguments and options that set a picklist accept its values only, and list them in
 * the help; the endpoint checks everything else.
 */
export function endpointCommand<Name extends EndpointName, Result = Answer<Name>>(
  name: Name,
  { words = {}, options = {}, fixed, toResult, ...rest }: EndpointCommand<Name, Result>,
): Command<Result> {
  const fields = Object.values<string>(words)
  const known = Object.entries(options).map(([option, { field = toCamelCase(option), ...given }]) => {
    const choices = given.value === undefined ? undefined : listChoices(name, field)
    return { option, field, given: { ...(choices && { choices }), ...given } }
  })
  return apiCommand<Result, readonly string[]>({
    ...rest,
    words: Object.keys(words),
    choices: Object.fromEntries(Object.entries<string>(words).map(([word, field]) => [word, listChoices(name, field)])),
    options: Object.fromEntries(known.map(({ option, given }) => [option, given])),
    async call(api, given: Arguments) {
      const input = Object.fromEntries([
        ...Object.entries(fixed ?? {}),
        ...fields.map((field, i) => [field, given.words[i]]),
        ...known.map(({ option, field }) => [field, given.options[option]]),
      ])
      // The cast is safe, because the endpoint validates its input.
      const answer = (await (api[name] as (input: object) => Promise<unknown>)(input)) as Answer<Name>
      return toResult ? toResult(answer, input) : (answer as Result)
    },
  })
}

interface EndpointList<Name extends EndpointName, Key, Row> extends Omit<
  EndpointCommand<Name, Answer<Name>>,
  'show' | 'toResult' | 'fixed'
> {
  /** The field of the output that has the rows. */
  readonly rows: Key
  toLines(row: Row): Line | readonly Line[]
}

/** Rows per page of a list. */
const pageRows = 100

/** A command from the endpoint table that prints one page of a list, and how many rows there are. */
export function endpointList<
  Name extends EndpointName,
  Key extends keyof Answer<Name>,
  Row extends (Answer<Name>[Key] extends readonly (infer One)[] ? One : never),
>(name: Name, { rows, toLines, ...rest }: EndpointList<Name, Key, Row>): Command<Answer<Name>> {
  const help = `the page to show; a page has ${pageRows} rows. Default: 1`
  return endpointCommand(name, {
    ...rest,
    fixed: { limit: pageRows },
    options: { ...rest.options, page: { value: 'N', help } },
    show(answer) {
      const { [rows]: listed, total } = answer as Record<Key, readonly Row[]> & { total: number }
      return [...listed.flatMap((row) => toLines(row)), `${listed.length} of ${total}.`]
    },
  })
}

/** What is read of a schema of valibot: an object has `entries`, and an optional schema wraps another. */
interface Schema {
  readonly type: string
  readonly entries?: Readonly<Record<string, Schema>>
  readonly wrapped?: Schema
  readonly options?: readonly string[]
}

/** The values of a picklist in the input of an endpoint; undefined for a field that accepts other values. */
function listChoices(name: EndpointName, field: string): readonly string[] | undefined {
  const input: Schema = endpoints[name].input
  const schema = input.entries?.[field]
  const inner = schema?.wrapped ?? schema
  return inner?.type === 'picklist' ? inner.options : undefined
}

function toCamelCase(option: string): string {
  return option.replace(/-./g, ([, letter = '']) => letter.toUpperCase())
}
