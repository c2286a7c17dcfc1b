import { readFileSync } from 'node:fs'
import { UsageError, text, type Arguments, type Option } from './command.ts'
import { toOneLine } from './output.ts'

/** The token that opens /metrics. Other users of the machine can read the command line of a process. */
export const metricsTokenOptions: Record<string, Option> = {
  'metrics-token': {
    value: 'TOKEN',
    help: 'opens /metrics beyond this machine (or SKILLSTEAD_METRICS_TOKEN, which other users cannot read)',
    env: 'SKILLSTEAD_METRICS_TOKEN',
  },
  'metrics-token-file': { value: 'FILE', help: 'a file that holds the metrics token' },
}

/** The token that was given; throws {@link UsageError} for a file without one. */
export function toMetricsToken(given: Arguments): string | undefined {
  const file = text(given, 'metrics-token-file')
  if (file === undefined) return text(given, 'metrics-token')
  const token = read(file).trim()
  if (token === '') throw new UsageError(`${toOneLine(file)} holds no metrics token.`)
  return token
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new UsageError(`${toOneLine(file)}, the file of the metrics token, cannot be read.`, { cause })
  }
}
