import { UsageError, text, type Arguments, type Option } from './command.ts'

const units = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

export const storageQuotaOption: Record<string, Option> = {
  'storage-quota': {
    value: 'SIZE',
    help: 'how much each user on the free plan may store, as 500MiB or 2GiB, 0 for any amount. Default: 1GiB',
  },
}

/** The quota that was given, in bytes; throws {@link UsageError} for what is no size. */
export function toStorageQuota(given: Arguments): number | undefined {
  const size = text(given, 'storage-quota')
  if (size === undefined) return undefined
  const [, amount, unit = 'B'] = /^(\d{1,9})(KiB|MiB|GiB|TiB)?$/.exec(size) ?? []
  if (amount === undefined) throw new UsageError(`'${size}' is no size: write it as 500MiB or 2GiB, or 0 for no quota.`)
  return Number(amount) * units[unit as keyof typeof units]
}
