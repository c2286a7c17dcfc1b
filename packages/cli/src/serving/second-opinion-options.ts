import type { RegistryOptions } from '@skillstead/core'
import { toOneLine } from '@skillstead/protocol'
import { flag, readSecretFile, text, UsageError, type Arguments, type Options } from '../command/command.ts'

export const secondOpinionOptions: Options = {
  'second-opinion-url': {
    value: 'URL',
    help: 'a service that judges public versions which the scan leaves in doubt, within a time limit. It receives their files. Default: none',
  },
  'second-opinion-key-file': { value: 'FILE', help: 'a file with the API key of that service' },
  'second-opinion-timeout': { value: 'MS', help: 'the milliseconds that a publish waits for it. Default: 5000' },
  'second-opinion-budget': { value: 'COUNT', help: 'the maximum number of questions a day. Default: 1000' },
  'second-opinion-scores': {
    value: 'MIN-MAX',
    help: 'the security scores of the versions that it is asked about. Default: 40-94',
  },
  'second-opinion-clears': { help: 'let its verdict `safe` clear `caution` for the scan policy, never `dangerous`' },
}

/** The second opinion. Throws {@link UsageError} for an incomplete or invalid one. */
export function toSecondOpinion(given: Arguments): RegistryOptions['secondOpinion'] {
  const [url, file, timeout, budget, scores] = ['url', 'key-file', 'timeout', 'budget', 'scores'].map((name) =>
    text(given, `second-opinion-${name}`),
  )
  if (url === undefined) {
    if ([file, timeout, budget, scores].every((one) => one === undefined) && !flag(given, 'second-opinion-clears'))
      return undefined
    throw new UsageError('Pass --second-opinion-url with the other options of the second opinion.')
  }
  const target = URL.parse(url)
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password)
    throw new UsageError(`'${toOneLine(url)}' is not an address of http or https without credentials.`)
  const key = file === undefined ? undefined : readSecretFile(file, 'API key')
  return {
    service: { url, ...(key && { key }) },
    ...(timeout !== undefined && { timeoutMs: toNumber(timeout, 'number of milliseconds', 1, 60_000) }),
    ...(budget !== undefined && { dailyMax: toNumber(budget, 'number of questions', 1, 1_000_000) }),
    ...(scores !== undefined && { scores: toScores(scores) }),
  }
}

function toNumber(given: string, what: string, least: number, most: number): number {
  const number = /^\d{1,7}$/.test(given) ? Number(given) : Number.NaN
  if (number >= least && number <= most) return number
  throw new UsageError(`'${toOneLine(given)}' is not a ${what}. Use a number from ${least} to ${most}.`)
}

function toScores(given: string) {
  const [, least, most] = /^(\d{1,3})-(\d{1,3})$/.exec(given) ?? []
  if (least !== undefined && Number(least) <= Number(most) && Number(most) <= 100)
    return { least: Number(least), most: Number(most) }
  throw new UsageError(`'${toOneLine(given)}' is not a range of scores. Use a form such as 40-94.`)
}
