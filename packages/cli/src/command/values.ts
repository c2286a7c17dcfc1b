import { readFileSync, statSync } from 'node:fs'
import { toOneLine } from '@skillstead/protocol'
import { UsageError, textOption, type Arguments } from './command.ts'

/** The comma-separated values of an option, without empty values; undefined if the option is not given. */
export function listOption(given: Arguments, name: string): string[] | undefined {
  const parts = textOption(given, name)?.split(',')
  return parts?.map((part) => part.trim()).filter((part) => part !== '')
}

/**
 * Like {@link listOption}, but throws {@link UsageError} for a value that is none of `choices`; `what` names the kind
 * of value in the message.
 */
export function choicesOption<T extends string>(
  given: Arguments,
  name: string,
  choices: readonly T[],
  what: string,
): T[] | undefined {
  return listOption(given, name)?.map((written) => {
    const found = choices.find((one) => one === written)
    if (found !== undefined) return found
    throw new UsageError(`'${written}' is not ${what}. Use any of ${choices.join(', ')}.`)
  })
}

/**
 * The whole number that an option has, or undefined. Throws {@link UsageError} for a text that is no whole number, or a
 * number outside the limits; `what` and `advice` are in its message.
 */
export function wholeNumberOption(
  given: Arguments,
  name: string,
  what: string,
  [least, most]: readonly [number, number],
  advice = `Use a number from ${least} to ${most}.`,
): number | undefined {
  const written = textOption(given, name)
  if (written === undefined) return undefined
  const number = (least < 0 ? /^-?\d{1,15}$/ : /^\d{1,15}$/).test(written) ? Number(written) : Number.NaN
  if (number >= least && number <= most) return number
  throw new UsageError(`'${toOneLine(written)}' is not a ${what}. ${advice}`)
}

/**
 * Converts a number with a unit, such as `6h`, to the base unit of `units`, where '' stands for no unit. NaN for
 * another text.
 */
export function toUnits(written: string, units: Readonly<Record<string, number>>): number {
  const [, number = '', unit = ''] = /^(\d{1,12})([a-z]*)$/i.exec(written) ?? []
  return number !== '' && Object.hasOwn(units, unit) ? Number(number) * units[unit]! : Number.NaN
}

/** Whether a text is an HTTP URL without a user name and password. */
export function isHttpUrl(written: string): boolean {
  const url = URL.parse(written)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === ''
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

/** The text of a file that an option names. Throws {@link UsageError} if it cannot be read. */
export function readOptionFile(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`'${toOneLine(file)}' cannot be read.`, { cause })
  }
}

/** The bytes of a file that an option names. Throws {@link UsageError} if it cannot be read, or exceeds `bytesMax`. */
export function readOptionBytes(file: string, bytesMax: number): Uint8Array {
  try {
    if (statSync(file).size <= bytesMax) return readFileSync(file)
  } catch (cause) {
    throw new UsageError(`'${toOneLine(file)}' cannot be read.`, { cause })
  }
  throw new UsageError(`'${toOneLine(file)}' is larger than ${bytesMax / 1024} KiB. Use a smaller file.`)
}

/** The secret in a file that an option names; `what` is in the error. Throws {@link UsageError} if there is none. */
export function readSecretFile(file: string, what: string): string {
  const secret = readOptionFile(file).trim()
  if (secret === '') throw new UsageError(`${toOneLine(file)} contains no ${what}.`)
  return secret
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
