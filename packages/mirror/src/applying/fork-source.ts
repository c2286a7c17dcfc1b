import {
  type CatalogueContext,
  appendChange,
  findSource,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'

/** Counts a fork that came in new with the skill that it was made of, where that is here. */
export async function creditSource(
  context: CatalogueContext,
  trx: WriteTransaction,
  { forked_from }: Pick<SkillRow, 'forked_from'>,
  at: number = context.clock.now(),
): Promise<void> {
  const source = forked_from === null ? undefined : await findSource(trx, forked_from)
  if (!source) return
  await trx
    .updateTable('skills')
    .set((eb) => ({ forks: eb('forks', '+', 1) }))
    .where('id', '=', source.id)
    .execute()
  await appendChange(trx, { kind: 'counters', subject: source.id, at, entries: [] })
}
