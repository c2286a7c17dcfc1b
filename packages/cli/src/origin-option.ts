import { isNoteName } from '@skillstead/core'
import { UsageError, text, type Arguments, type Option } from './command.ts'
import { toOneLine } from './output.ts'

/** How a node is called by those who follow its log; for whatever may write the first entry of it. */
export const originOption: Record<string, Option> = {
  origin: {
    value: 'NAME',
    help: 'the name of the log and its key, such as skills.example.com; it stays from the first entry on',
  },
}

/** Throws {@link UsageError} for what no log can be called. */
export function toOrigin(given: Arguments): string | undefined {
  const origin = text(given, 'origin')
  if (origin === undefined || isNoteName(origin)) return origin
  throw new UsageError(
    `'${toOneLine(origin)}' is no name of a node: up to 255 characters without spaces and + are needed.`,
  )
}
