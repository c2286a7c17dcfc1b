import { toTimestamp } from '@skillstead/protocol'
import { parseVersionRange } from '@skillstead/skill-format'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { StoredRecall } from '../versions/recalls.ts'
import { toPublicName } from '../versions/skill-document.ts'

/** Versions per statement. */
const idsPerUpdate = 500

/**
 * Stores the recalls of a skill, newest first, and which recall covers each of its versions. Emits the event of the
 * recall that began or ended. The caller then refreshes the skill.
 */
export async function putRecalls(
  { events }: Pick<CatalogueContext, 'events'>,
  trx: WriteTransaction,
  skill: SkillRow,
  recalls: readonly StoredRecall[],
  changed: StoredRecall,
): Promise<void> {
  await storeRecalls(trx, skill.id, recalls)
  const { id, range, reason, at, endedAt } = changed
  await events.emit(trx, {
    event: 'skill.recalled',
    skill,
    data: () => ({
      skill: { id: skill.id, name: toPublicName(skill), fullName: skill.full_name },
      recall: { id, range, reason, at: toTimestamp(at) },
      ended: endedAt !== undefined,
    }),
  })
}

/** The part of {@link putRecalls} without the event. */
export async function storeRecalls(
  trx: WriteTransaction,
  skillId: string,
  recalls: readonly StoredRecall[],
): Promise<void> {
  await trx
    .updateTable('skills')
    .set({ recalls: JSON.stringify(recalls) })
    .where('id', '=', skillId)
    .execute()
  const versions = await trx
    .selectFrom('versions')
    .select(['id', 'version', 'recalled_by'])
    .where('skill_id', '=', skillId)
    .execute()
  const active = recalls
    .filter(({ endedAt }) => endedAt === undefined)
    .map(({ id, range }) => ({ id, range: parseVersionRange(range) }))
  const changed = new Map<string | null, string[]>()
  for (const { id, version, recalled_by } of versions) {
    if (isSliceOver()) await nextSlice()
    const covering = active.find(({ range }) => range?.includes(version))?.id ?? null
    if (covering === recalled_by) continue
    const ids = changed.get(covering)
    if (ids) ids.push(id)
    else changed.set(covering, [id])
  }
  for (const [recalled_by, ids] of changed) {
    for (let at = 0; at < ids.length; at += idsPerUpdate) {
      const some = ids.slice(at, at + idsPerUpdate)
      await trx.updateTable('versions').set({ recalled_by }).where('id', 'in', some).execute()
    }
  }
}

/** Active recalls of a skill, and as many of its upstream: each is tested against each version. */
export const activeRecallsMax = 20

/** The number of active recalls of this node, or of the upstream. */
export function countActiveRecalls(recalls: readonly StoredRecall[], from?: 'upstream'): number {
  const isUpstream = from === undefined ? undefined : true
  return recalls.filter(({ endedAt, upstream }) => endedAt === undefined && upstream === isUpstream).length
}

/** Limits the row of a skill: ended recalls beyond it are dropped, the oldest first; the log keeps their entries. */
const storedMax = 50

/** The recalls of a skill with one more, or with another state of one; newest first. */
export function withRecall(recalls: readonly StoredRecall[], recall: StoredRecall): StoredRecall[] {
  const others = recalls.filter(({ id }) => id !== recall.id)
  const all = [...others, recall].toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  return all.filter(({ endedAt }, i) => endedAt === undefined || i < storedMax)
}
