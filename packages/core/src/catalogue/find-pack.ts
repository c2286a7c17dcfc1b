import { RegistryError } from '@skillstead/protocol'
import { callerId, type Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import type { PackRow } from '../storage/tables.ts'
import { toStoredSlugs } from './pack-slugs.ts'

/** The pack with a slug if the caller may see it; throws `not_found`. */
export async function getPack(context: CatalogueContext, slug: string, caller: Caller): Promise<PackRow> {
  const rows = await context.database.read
    .selectFrom('packs')
    .selectAll()
    .where('slug', 'in', toStoredSlugs(slug, callerId(caller)))
    .execute()
  const pack = rows.find((row) => row.slug !== slug && row.state === 'live') ?? rows.find((row) => row.slug === slug)
  if (!pack || !canSeePack(pack, caller))
    throw new RegistryError('not_found', `There is no pack '${slug}' that you may see.`)
  return pack
}

function canSeePack(pack: PackRow, caller: Caller): boolean {
  if (pack.state !== 'live') return false
  if (pack.visibility === 'public' || pack.curator_id === callerId(caller)) return true
  return pack.visibility === 'internal' && caller.kind === 'user'
}
