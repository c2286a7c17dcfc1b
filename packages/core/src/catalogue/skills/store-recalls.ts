import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import type { SkillRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { findCoveringRecall, selectVersionNumbers, type StoredRecall, toShownRecall } from '../versions/recalls.ts'
import { toPublicName } from '../versions/skill-document.ts'

/** Versions per statement. */
const idsPerUpdate = 500

/** Emits the event of a recall that began or ended, with the versions in its range. */
export async function emitRecall(
  { events }: Pick<CatalogueContext, 'events'>,
  trx: WriteTransaction,
  skill: SkillRow,
  changed: StoredRecall,
): Promise<void> {
  await events.emit(trx, {
    event: 'skill.recalled',
    skill,
    data: async () => ({
      skill: { id: skill.id, name: toPublicName(skill), fullName: skill.full_name },
      recall: await toShownRecall(changed, await selectVersionNumbers(trx, skill.id)),
      ended: changed.endedAt !== undefined,
    }),
  })
}

/**
 * Stores the recalls of a skill, newest first, and which recall covers each of its versions. The caller then refreshes
 * the skill and calls {@link emitRecall}.
 */
export async function storeRecalls(trx: WriteTransaction, skillId: string, recalls: readonly StoredRecall[]) {
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
  const active = recalls.filter(({ endedAt }) => endedAt === undefined)
  const changed = new Map<string | null, string[]>()
  for (const { id, version, recalled_by } of versions) {
    if (isSliceOver()) await nextSlice()
    const covering = findCoveringRecall(active, version)
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

/** Maximum active recalls that this node can add to a skill: each is tested against each version. */
export const activeRecallsMax = 20

/** Maximum active recalls of a skill from an upstream, its relayed recalls included. The oldest are dropped. */
export const upstreamRecallsMax = 2 * activeRecallsMax

/** The number of active recalls that this node, rather than an upstream, added. */
export function countActiveRecalls(recalls: readonly StoredRecall[]): number {
  return recalls.filter(({ endedAt, upstream }) => endedAt === undefined && !upstream).length
}

/** Maximum recalls in the row of a skill: the oldest ended recalls are dropped, but stay in the log. */
const storedMax = 50

/** The recalls of a skill after a recall was added or changed, newest first. */
export function withRecall(recalls: readonly StoredRecall[], recall: StoredRecall): StoredRecall[] {
  const others = recalls.filter(({ id }) => id !== recall.id)
  const all = [...others, recall].toSorted((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
  let theirs = 0
  return all.filter(({ endedAt, upstream }, i) => {
    if (endedAt !== undefined) return i < storedMax
    return !upstream || ++theirs <= upstreamRecallsMax
  })
}
