import { RegistryError } from '@skillstead/protocol'
import type { PackRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'

/**
 * The slug of a private pack is taken only for its curator: otherwise a refusal to other users would reveal that the
 * pack exists. Such a pack is stored under `<curator's id>/<slug>`, which no slug can equal, until it becomes visible
 * to others. From then on its slug is taken for everyone, even if the pack becomes private again.
 */
export function toStoredSlug(
  slug: string,
  { curator_id, visibility }: Pick<PackRow, 'curator_id' | 'visibility'>,
): string {
  return visibility === 'private' ? `${curator_id}/${slug}` : slug
}

/** The slug as shown to users. */
export function toShownSlug(stored: string): string {
  return stored.slice(stored.indexOf('/') + 1)
}

/** The stored slugs that a caller's slug may mean; the caller's own private pack comes first. */
export function toStoredSlugs(slug: string, callerId: string | null): string[] {
  return callerId === null ? [slug] : [`${callerId}/${slug}`, slug]
}

/** Throws `name_taken` if a new pack, or one that becomes visible to others, cannot have the slug. */
export async function requireFreeSlug(
  trx: WriteTransaction,
  slug: string,
  pack: Pick<PackRow, 'id' | 'curator_id' | 'visibility'>,
): Promise<void> {
  // The curator could not address two packs with one slug. If another user's public pack takes the slug later, the
  // curator's own pack has precedence.
  const taken = await trx
    .selectFrom('packs')
    .select('id')
    .where('slug', 'in', toStoredSlugs(slug, pack.curator_id))
    .where('id', '!=', pack.id)
    .executeTakeFirst()
  if (taken) throw new RegistryError('name_taken', `There is a pack '${slug}' already. Choose another slug.`)
}
