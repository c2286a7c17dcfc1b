import { limits, type Pack, toTimestamp } from '@skillstead/protocol'
import { measureListing } from '@skillstead/skill-format/loading'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { toSkills } from './shown-names.ts'
import { itemColumns } from './skill-document.ts'
import { canSee } from './visibility.ts'
import type { PackRow } from '../storage/tables.ts'
import { toShownSlug } from './pack-slugs.ts'

/** GET /packs/<slug>: a pack with its skills that the caller may see. */
export async function showPack(context: CatalogueContext, pack: PackRow, caller: Caller): Promise<Pack> {
  const rows = await context.database.read
    .selectFrom('pack_skills')
    .innerJoin('skills', 'skills.id', 'pack_skills.skill_id')
    .select(itemColumns.map((column) => `skills.${column}` as const))
    .select(['skills.visibility', 'skills.state', 'skills.stub', 'pinned_version', 'note'])
    .where('pack_id', '=', pack.id)
    .orderBy('position')
    .execute()
  const shown: typeof rows = []
  for (const row of rows) {
    // A skill under a takedown is left out, so that the pack stays readable.
    if (row.state === 'taken_down' || !(await canSee(context, row, caller))) continue
    // As in every list, a skill with only yanked versions is left out, unless the pack pins the version.
    if (row.latest_version === '' && row.stub === 0 && row.pinned_version === null) continue
    shown.push(row)
  }
  const items = await toSkills(context, shown, caller)
  const skills = shown.map((row, i) => ({ ...items[i]!, pinnedVersion: row.pinned_version, note: row.note }))
  // Agents list skills by their short names.
  const listingCharacters = measureListing(shown)
  return {
    slug: toShownSlug(pack.slug),
    name: pack.name,
    description: pack.description,
    curator: { username: pack.curator },
    skills,
    skillCount: skills.length,
    visibility: pack.visibility,
    createdAt: toTimestamp(pack.created_at),
    updatedAt: toTimestamp(pack.updated_at),
    budget: { listingCharacters, fits: listingCharacters <= limits.listingCharactersMax },
  }
}
