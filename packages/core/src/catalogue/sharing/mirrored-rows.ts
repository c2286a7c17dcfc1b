import { keysOf } from '@skillstead/protocol'
import type { PackRow, SkillRow, UserRow, VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { applySettings, findSkillState } from '../skills/skill-rows.ts'
import type { SkillSettings } from '../context/ports.ts'
import { moveSkill } from './skill-transfer.ts'

/**
 * Functions that apply an upstream's changes to mirrored skills and packs. After such a function, its caller runs
 * `refreshSkill` for a skill, or `appendChange` for a pack.
 */

/** Records when the upstream last confirmed a skill. `at`: milliseconds since 1970. */
export async function markSynced(trx: WriteTransaction, skillId: string, at: number): Promise<void> {
  await trx.updateTable('skills').set({ origin_synced_at: at }).where('id', '=', skillId).execute()
}

/**
 * Applies the owner, name and settings of a public skill at an upstream. Decisions of this node, such as hiding the
 * skill, stay. Returns whether anything changed.
 */
export async function updateFromSource(
  context: CatalogueContext,
  trx: WriteTransaction,
  before: SkillRow,
  change: { owner: Pick<UserRow, 'id' | 'username'>; fullName: string; settings: SkillSettings; at: number },
): Promise<boolean> {
  const isMoved = before.full_name !== change.fullName
  if (isMoved) await moveSkill(context, trx, before, change)
  const isRestored = before.source_state !== 'live' && (await restoreSkill(trx, before.id))
  // A skill that was imported with its owner's API key may have been private.
  const isChanged = await applySettings(trx, before, { ...change.settings, visibility: 'public' })
  await markSynced(trx, before.id, change.at)
  return isMoved || isRestored || isChanged
}

/**
 * Makes a skill available that its source had withdrawn or taken down, unless a decision of this node hides the skill.
 */
export async function restoreSkill(
  trx: WriteTransaction,
  id: string,
  columns: Partial<Pick<SkillRow, 'visibility'>> = {},
): Promise<true> {
  await trx
    .updateTable('skills')
    .set({ ...columns, source_state: 'live' })
    .where('id', '=', id)
    .execute()
  const state = await findSkillState(trx, id)
  await trx.updateTable('skills').set({ state }).where('id', '=', id).execute()
  return true
}

/** Hides a skill that its source withdrew or took down. The name of the skill stays taken. */
export async function removeAtSource(
  trx: WriteTransaction,
  id: string,
  { state, at }: { state: 'withdrawn' | 'taken_down'; at: number },
): Promise<void> {
  const columns = { source_state: state, state, origin_synced_at: at }
  await trx.updateTable('skills').set(columns).where('id', '=', id).execute()
  await trx.deleteFrom('transfers').where('skill_id', '=', id).execute()
}

/** The columns of a version that its source may change. */
type ChangeableColumns = Pick<VersionRow, 'yanked' | 'published_at' | 'publisher_id' | 'publisher' | 'identity'>

/** Writes the columns that differ from a version's row. Returns whether any differed. */
export async function updateVersion(
  trx: WriteTransaction,
  before: Pick<VersionRow, 'id'> & Partial<ChangeableColumns>,
  columns: Partial<ChangeableColumns>,
): Promise<boolean> {
  if (keysOf(columns).every((name) => columns[name] === before[name])) return false
  await trx.updateTable('versions').set(columns).where('id', '=', before.id).execute()
  return true
}

/** Inserts a mirrored pack, or updates the pack `before`. */
export async function putPack(trx: WriteTransaction, before: PackRow | undefined, pack: PackRow): Promise<void> {
  if (before) await trx.updateTable('packs').set(pack).where('id', '=', before.id).execute()
  else await trx.insertInto('packs').values(pack).execute()
}
