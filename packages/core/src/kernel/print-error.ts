import { inspect } from 'node:util'
import { toLogText } from '@skillstead/protocol'

/**
 * Prints an error with its stack and causes to the console. Removes control characters, because the messages of an
 * error may come from other servers.
 */
export function printError(error: unknown): void {
  console.error(toLogText(inspect(error)))
}
