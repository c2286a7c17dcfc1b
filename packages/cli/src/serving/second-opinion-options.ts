import type { RegistryOptions } from '@skillstead/core'
import { toOneLine } from '@skillstead/protocol'
import { flag, textOption, UsageError, type Arguments, type Options } from '../command/command.ts'
import { isHttpUrl, readSecretFile, wholeNumberOption } from '../command/values.ts'

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

/** The service for second opinions, undefined without options. Throws {@link UsageError} for invalid options. */
export function toSecondOpinion(given: Arguments): RegistryOptions['secondOpinion'] {
  const [url, file, scores] = ['url', 'key-file', 'scores'].map((name) => textOption(given, `second-opinion-${name}`))
  const timeoutMs = wholeNumberOption(given, 'second-opinion-timeout', 'number of milliseconds', [1, 60_000])
  const dailyMax = wholeNumberOption(given, 'second-opinion-budget', 'number of questions', [1, 1_000_000])
  if (url === undefined) {
    const clears = flag(given, 'second-opinion-clears') || undefined
    if ([file, timeoutMs, dailyMax, scores, clears].every((one) => one === undefined)) return undefined
    throw new UsageError('--second-opinion-url is missing: the other options of the second opinion need it.')
  }
  if (!isHttpUrl(url))
    throw new UsageError(`'${toOneLine(url)}' is not an HTTP URL. Use http:// or https://, without credentials.`)
  const key = file === undefined ? undefined : readSecretFile(file, 'API key')
  return {
    service: { url, ...(key && { key }) },
    ...(timeoutMs && { timeoutMs }),
    ...(dailyMax && { dailyMax }),
    ...(scores && { scores: toScores(scores) }),
  }
}

function toScores(given: string) {
  const [, least, most] = /^(\d{1,3})-(\d{1,3})$/.exec(given) ?? []
  if (least !== undefined && Number(least) <= Number(most) && Number(most) <= 100)
    return { least: Number(least), most: Number(most) }
  throw new UsageError(`'${toOneLine(given)}' is not a range of scores. Use a form such as 40-94.`)
}
