import { isNoteName } from '@skillstead/core/internal'
import { UsageError, text, type Arguments, type Option } from '../command/command.ts'
import { toOneLine } from '../terminal/output.ts'

/** The name of a node in its log, for every command that can write the first log entry. */
export const originOption: Record<string, Option> = {
  origin: {
    value: 'NAME',
    help: 'the name of the log and its key, such as skills.example.com; it cannot change after the first entry',
  },
}

/** Throws {@link UsageError} for an invalid log name. */
export function toOrigin(given: Arguments): string | undefined {
  const origin = text(given, 'origin')
  if (origin === undefined || isNoteName(origin)) return origin
  throw new UsageError(`'${toOneLine(origin)}' is not a valid origin. Use up to 255 characters without spaces and +.`)
}
