import { RegistryError } from '@skillstead/protocol'
import type { PackRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/**
 * The slug of a private pack is taken for its curator alone, or the answer to others who want it would reveal that the
 * pack exists. Such a pack is stored under `<curator's id>/<slug>`, which no slug can be, until it is shown to others;
 * from then on its slug is taken for everyone, also when it is private again.
 */
export function toStoredSlug(
  slug: string,
  { curator_id, visibility }: Pick<PackRow, 'curator_id' | 'visibility'>,
): string {
  return visibility === 'private' ? `${curator_id}/${slug}` : slug
}

/** The slug as it is shown. */
export function toShownSlug(stored: string): string {
  return stored.slice(stored.indexOf('/') + 1)
}

/** What a pack of this slug may be stored under, as a caller means it: the caller's own private one comes first. */
export function toStoredSlugs(slug: string, callerId: string | null): string[] {
  return callerId === null ? [slug] : [`${callerId}/${slug}`, slug]
}

/** Throws `name_taken` where a new pack, or one that is shown to others from now on, may not have the slug. */
export async function requireFreeSlug(
  trx: WriteTransaction,
  slug: string,
  pack: Pick<PackRow, 'id' | 'curator_id' | 'visibility'>,
): Promise<void> {
  // The curator could not tell two packs of one slug apart; another's public one may come later, and means less then.
  const taken = await trx
    .selectFrom('packs')
    .select('id')
    .where('slug', 'in', toStoredSlugs(slug, pack.curator_id))
    .where('id', '!=', pack.id)
    .executeTakeFirst()
  if (taken) throw new RegistryError('name_taken', `There is a pack '${slug}' already. Choose another slug.`)
}
