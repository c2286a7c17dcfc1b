import { UsageError, text, type Arguments, type Option } from '../command/command.ts'

const units = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const

export const storageQuotaOption: Record<string, Option> = {
  'storage-quota': {
    value: 'SIZE',
    help: 'the storage quota of each user on the free plan, such as 500MiB or 2GiB; 0 for no limit. Default: 1GiB',
  },
}

/** The storage quota in bytes. Throws {@link UsageError} for an invalid size. */
export function toStorageQuota(given: Arguments): number | undefined {
  const size = text(given, 'storage-quota')
  if (size === undefined) return undefined
  const [, amount, unit = 'B'] = /^(\d{1,9})(KiB|MiB|GiB|TiB)?$/.exec(size) ?? []
  if (amount === undefined)
    throw new UsageError(`'${size}' is not a size. Use a form such as 500MiB or 2GiB, or 0 for no quota.`)
  return Number(amount) * units[unit as keyof typeof units]
}
