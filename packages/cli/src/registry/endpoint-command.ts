import { endpoints, type Endpoint, type EndpointName, type RegistryApi } from '@skillstead/protocol'
import type { Arguments, Command, Option } from '../command/command.ts'
import type { Line } from '../terminal/style.ts'
import { apiCommand } from './api-command.ts'

type Answer<Name extends EndpointName> = Awaited<ReturnType<RegistryApi[Name]>>
type Field<Name extends EndpointName> = Extract<keyof NonNullable<Parameters<RegistryApi[Name]>[0]>, string>

/** An option that sets a field of the input. Default for `field`: the name of the option in camel case. */
type FieldOption<Name extends EndpointName> = Option & { readonly field?: Field<Name> }

/** A command that calls one endpoint: what the command line calls the fields of its input, and how people see its output. */
interface EndpointCommand<Name extends EndpointName, Result> extends Pick<
  Command<Result>,
  'description' | 'isExact' | 'show'
> {
  /** The positional arguments in order, such as `ID` or `[NAME]`, each with the field that it sets. */
  readonly words?: Readonly<Record<string, Field<Name>>>
  readonly options?: Readonly<Record<string, FieldOption<Name>>>
  /** Fields of the input that the command line does not set. */
  readonly fixed?: { readonly [F in Field<Name>]?: unknown }
  /** As for {@link apiCommand}. */
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
  const placeholders = Object.keys(words)
  const choices = Object.entries<string>(words).map(([word, field]) => [word, listChoices(name, field)] as const)
  const fields = Object.entries(options).map(([option, { field = toCamelCase(option) }]) => [option, field] as const)
  return apiCommand<Result, readonly string[]>({
    ...rest,
    words: placeholders,
    choices: Object.fromEntries(choices.filter(([, values]) => values !== undefined)),
    options: Object.fromEntries(
      Object.entries<Option>(options).map(([option, given], i) => {
        const values = given.value === undefined ? undefined : listChoices(name, fields[i]![1])
        return [option, { ...(values && { choices: values }), ...given }]
      }),
    ),
    async call(api, given: Arguments) {
      const input = {
        ...fixed,
        ...Object.fromEntries(Object.values<string>(words).map((field, i) => [field, given.words[i]])),
        ...Object.fromEntries(fields.map(([option, field]) => [field, given.options[option]])),
      }
      // The endpoint validates its input.
      const answer = await (api[name] as (input: object) => Promise<unknown>)(input)
      return (toResult ? toResult(answer as Answer<Name>, input as never) : answer) as Result
    },
  })
}

interface EndpointList<Name extends EndpointName, Key, Row> extends Omit<
  EndpointCommand<Name, Answer<Name>>,
  'show' | 'toResult'
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
  return endpointCommand(name, {
    ...rest,
    fixed: { limit: pageRows, ...rest.fixed } as never,
    options: {
      ...rest.options,
      page: { value: 'N', help: `the page to show; a page has ${pageRows} rows. Default: 1` },
    },
    show(answer) {
      const { [rows]: listed, total } = answer as Record<Key, readonly Row[]> & { total: number }
      return [...listed.flatMap((row) => toLines(row)), `${listed.length} of ${total}.`]
    },
  })
}

/** The values of a picklist in the input of an endpoint; undefined for a field that accepts others. */
function listChoices(name: EndpointName, field: string): readonly string[] | undefined {
  let schema = (endpoints[name] as Endpoint).input as unknown as Schema | undefined
  for (schema = schema?.entries?.[field]; schema?.wrapped; schema = schema.wrapped);
  return schema?.type === 'picklist' ? schema.options : undefined
}

/** What is read of a schema of valibot: an object has `entries`, and an optional or piped schema wraps another. */
interface Schema {
  readonly type: string
  readonly entries?: Readonly<Record<string, Schema>>
  readonly wrapped?: Schema
  readonly options?: readonly string[]
}

function toCamelCase(option: string): string {
  return option.replace(/-./g, ([, letter = '']) => letter.toUpperCase())
}
