import { readFileSync } from 'node:fs'
import { UsageError, text, type Arguments, type Option } from '../command/command.ts'
import { toOneLine } from '../terminal/output.ts'

/**
 * The token that opens /metrics. It can be read from a file, because other users can read the command line of a
 * process.
 */
export const metricsTokenOptions: Record<string, Option> = {
  'metrics-token': {
    value: 'TOKEN',
    help: 'the token that opens /metrics to other machines (or SKILLSTEAD_METRICS_TOKEN, which other users of this machine cannot read)',
    env: 'SKILLSTEAD_METRICS_TOKEN',
  },
  'metrics-token-file': { value: 'FILE', help: 'a file with the metrics token' },
}

/** The metrics token of the options. Throws {@link UsageError} for a file without one. */
export function toMetricsToken(given: Arguments): string | undefined {
  const file = text(given, 'metrics-token-file')
  if (file === undefined) return text(given, 'metrics-token')
  const token = read(file).trim()
  if (token === '') throw new UsageError(`${toOneLine(file)} contains no metrics token.`)
  return token
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`The metrics token file ${toOneLine(file)} cannot be read.`, { cause })
  }
}
