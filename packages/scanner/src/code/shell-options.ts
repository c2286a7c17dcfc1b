import { toValue, type Value } from './shell-value.ts'

interface Option {
  /** With its dashes. */
  readonly name: string
  readonly value: Value
}

export interface Arguments {
  readonly options: readonly Option[]
  readonly rest: readonly Value[]
}

/**
 * Splits arguments into options and the rest. `taking` lists the options that take a value, separated by spaces, such
 * as `-o --output`; the value is the rest of the argument or the next one.
 */
export function splitArguments(args: readonly Value[], taking: string): Arguments {
  const takes = new Set(taking.split(' '))
  const options: Option[] = []
  const rest: Value[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    const { text } = arg
    if (text === '--') {
      rest.push(...args.slice(at + 1))
      break
    }
    if (!text.startsWith('-') || text === '-') rest.push(arg)
    else if (text.startsWith('--') || takes.has(text)) {
      const equals = text.startsWith('--') ? text.indexOf('=') : -1
      if (equals !== -1) options.push({ name: text.slice(0, equals), value: part(arg, equals + 1) })
      else if (takes.has(text)) options.push({ name: text, value: args[++at] ?? toValue('') })
      else options.push({ name: text, value: toValue('') })
    } else at = readLetters(arg, takes, args, at, options)
  }
  return { options, rest }
}

/** Reads `-sSLo file`. Returns the index of the last argument that was read. */
function readLetters(
  arg: Value,
  takes: ReadonlySet<string>,
  args: readonly Value[],
  at: number,
  options: Option[],
): number {
  const length = Math.min(arg.text.length, 40)
  for (let letter = 1; letter < length; letter++) {
    const name = `-${arg.text[letter]}`
    if (!takes.has(name)) options.push({ name, value: toValue('') })
    else if (letter + 1 < arg.text.length) {
      options.push({ name, value: part(arg, letter + 1) })
      return at
    } else {
      options.push({ name, value: args[at + 1] ?? toValue('') })
      return at + 1
    }
  }
  return at
}

const part = (value: Value, start: number): Value => ({ ...value, text: value.text.slice(start) })

export function findOption({ options }: Arguments, ...names: string[]): Value | undefined {
  return options.find(({ name }) => names.includes(name))?.value
}

export function hasOption(split: Arguments, ...names: string[]): boolean {
  return findOption(split, ...names) !== undefined
}
