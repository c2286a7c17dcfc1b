import { RegistryError } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import type { UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/** How much a user on the free plan may store where the operator sets no other quota. */
export const storageQuotaBytesDefault = 1024 * 1024 * 1024

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/**
 * Throws `payload_too_large` where a version of `bytes` would take its owner over the storage quota of the free plan.
 * Counts the versions of all skills that the owner has not deleted, and those in quarantine, each with all its files.
 */
export async function requireStorage(
  { storageQuotaBytes }: Pick<CatalogueContext, 'storageQuotaBytes'>,
  trx: WriteTransaction,
  owner: Pick<UserRow, 'id' | 'username'>,
  bytes: number,
): Promise<void> {
  if (storageQuotaBytes === 0) return
  const user = await trx.selectFrom('users').select(['plan', 'claimed']).where('id', '=', owner.id).executeTakeFirst()
  // Nobody publishes in a namespace that is not claimed; imports and mirrors are the operator's.
  if (user?.plan !== 'free' || user.claimed === 0) return
  const stored = (await sumPublished(trx, owner.id)) + (await sumQuarantined(trx, owner.id))
  if (stored + bytes <= storageQuotaBytes) return
  throw new RegistryError(
    'payload_too_large',
    `${owner.username} stores ${toSize(stored)} of ${toSize(storageQuotaBytes)}, and this version takes ${toSize(bytes)}. ` +
      'Delete skills that are no longer needed, or ask an administrator for another plan.',
  )
}

async function sumPublished(trx: WriteTransaction, ownerId: string): Promise<number> {
  const { bytes } = await trx
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('versions.size'), eb.lit(0)).as('bytes'))
    .where('skills.owner_id', '=', ownerId)
    .where('skills.state', '!=', 'withdrawn')
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

async function sumQuarantined(trx: WriteTransaction, ownerId: string): Promise<number> {
  const { bytes } = await trx
    .selectFrom('held_files')
    .innerJoin('held_versions', 'held_versions.id', 'held_files.held_id')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('held_files.size'), eb.lit(0)).as('bytes'))
    .where('held_versions.owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** As in `1.5 GiB`. */
function toSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`
}
