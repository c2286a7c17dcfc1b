import type { StorageContext } from '@skillstead/core/internal'

/** The full names of the skills that were imported from an upstream. */
export async function readMirroredNames({ database }: StorageContext, upstream: string): Promise<Set<string>> {
  const rows = await database.read
    .selectFrom('skills')
    .select('full_name')
    .where('origin_upstream', '=', upstream)
    .execute()
  return new Set(rows.map(({ full_name }) => full_name))
}

/** The slugs of the packs that were imported from an upstream. */
export async function readMirroredPacks({ database }: StorageContext, upstream: string): Promise<Set<string>> {
  const rows = await database.read.selectFrom('packs').select('slug').where('origin_upstream', '=', upstream).execute()
  return new Set(rows.map(({ slug }) => slug))
}
