import { RegistryError } from '@skillstead/protocol'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import type { UserRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'

/** Default storage quota of a user on the free plan, in bytes. */
export const storageQuotaBytesDefault = 1024 * 1024 * 1024

const sizeUnits = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Throws the error of {@link findQuotaExcess}, if there is one. */
export async function requireStorage(...addition: Parameters<typeof findQuotaExcess>): Promise<void> {
  const excess = await findQuotaExcess(...addition)
  if (excess) throw excess
}

/**
 * Returns `payload_too_large` if an addition (`name`, as in `this version`) would take its owner over the storage quota
 * of the free plan. Counts all versions of the owner's skills with all files, and the owner's quarantined versions.
 * Deleted skills count too: versions are never removed, so publishing and deleting in a loop would fill the disk.
 */
export async function findQuotaExcess(
  { storageQuotaBytes }: Pick<CatalogueContext, 'storageQuotaBytes'>,
  trx: WriteTransaction,
  owner: Pick<UserRow, 'id' | 'username'>,
  { name, bytes }: { name: string; bytes: number },
): Promise<RegistryError | undefined> {
  if (storageQuotaBytes === 0) return undefined
  // Unclaimed namespaces have no quota: only imports and mirrors of the operator add versions to them.
  const [used] = await selectUsedStorage(trx, { ownerId: owner.id })
  if (!used) return undefined
  const stored = Number(used.versions) + Number(used.quarantined)
  if (stored + bytes <= storageQuotaBytes) return undefined
  return new RegistryError(
    'payload_too_large',
    `${owner.username} stores ${formatStorageSize(stored)} of ${formatStorageSize(storageQuotaBytes)}, deleted skills included, and ${name} ` +
      `takes ${formatStorageSize(bytes)}. Withdraw versions in quarantine, or ask an administrator for another plan.`,
  )
}

/** The bytes that an owner stores in versions and in quarantine. No row for an owner without a quota. */
const selectUsedStorage = compileQuery((db, param: Param<{ ownerId: string }>) =>
  db
    .selectFrom('users')
    .select((eb) => [
      eb
        .selectFrom('versions')
        .innerJoin('skills', 'skills.id', 'versions.skill_id')
        .select(({ fn, lit }) => fn.coalesce(fn.sum<number>('versions.size'), lit(0)).as('bytes'))
        .whereRef('skills.owner_id', '=', 'users.id')
        .as('versions'),
      eb
        .selectFrom('quarantine_files')
        .innerJoin('quarantine_items', 'quarantine_items.id', 'quarantine_files.quarantine_id')
        .select(({ fn, lit }) => fn.coalesce(fn.sum<number>('quarantine_files.size'), lit(0)).as('bytes'))
        .whereRef('quarantine_items.owner_id', '=', 'users.id')
        .as('quarantined'),
    ])
    .where('users.id', '=', param('ownerId'))
    .where('plan', '=', 'free')
    .where('claimed', '!=', 0),
)

/** The bytes of all versions of a skill. */
export async function sumVersionBytes(trx: WriteTransaction, skillId: string): Promise<number> {
  const { bytes } = await trx
    .selectFrom('versions')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('size'), eb.lit(0)).as('bytes'))
    .where('skill_id', '=', skillId)
    .executeTakeFirstOrThrow()
  return Number(bytes)
}

/** Formats a size, as in `1.5 GiB`. */
function formatStorageSize(bytes: number): string {
  const power = Math.min(sizeUnits.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${Number((bytes / 1024 ** power).toFixed(1))} ${sizeUnits[power]}`
}
