import { RegistryError } from '@skillstead/protocol'
import type { UserRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import type { CatalogueContext } from './catalogue-context.ts'

/** Default storage quota of a user on the free plan, in bytes. */
export const storageQuotaBytesDefault = 1024 * 1024 * 1024

const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/**
 * Throws `payload_too_large` if an addition (`name`, as in `this version`) would take its owner over the storage quota
 * of the free plan. Counts all versions of the owner's skills with all files, and those in quarantine. Deleted
 * skills count too: versions are never removed, so publishing and deleting in a loop would fill the disk.
 */
export async function requireStorage(
  { storageQuotaBytes }: Pick<CatalogueContext, 'storageQuotaBytes'>,
  trx: WriteTransaction,
  owner: Pick<UserRow, 'id' | 'username'>,
  { name, bytes }: { name: string; bytes: number },
): Promise<void> {
  if (storageQuotaBytes === 0) return
  const user = await trx.selectFrom('users').select(['plan', 'claimed']).where('id', '=', owner.id).executeTakeFirst()
  // Unclaimed namespaces have no quota: only imports and mirrors of the operator add versions to them.
  if (user?.plan !== 'free' || user.claimed === 0) return
  const stored = (await sumVersions(trx, 'skills.owner_id', owner.id)) + (await sumQuarantined(trx, owner.id))
  if (stored + bytes <= storageQuotaBytes) return
  throw new RegistryError(
    'payload_too_large',
    `${owner.username} stores ${toSize(stored)} of ${toSize(storageQuotaBytes)}, deleted skills included, and ${name} ` +
      `takes ${toSize(bytes)}. Withdraw versions in quarantine, or ask an administrator for another plan.`,
  )
}

/** The bytes of the versions of one skill, or of all skills of an owner, in every state. */
export async function sumVersions(trx: WriteTransaction, column: 'skills.id' | 'skills.owner_id', id: string) {
  const { bytes } = await trx
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('versions.size'), eb.lit(0)).as('bytes'))
    .where(column, '=', id)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

async function sumQuarantined(trx: WriteTransaction, ownerId: string): Promise<number> {
  const { bytes } = await trx
    .selectFrom('quarantine_files')
    .innerJoin('quarantine_items', 'quarantine_items.id', 'quarantine_files.quarantine_id')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('quarantine_files.size'), eb.lit(0)).as('bytes'))
    .where('quarantine_items.owner_id', '=', ownerId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** Formats a size, as in `1.5 GiB`. */
function toSize(bytes: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${units[power]}`
}
