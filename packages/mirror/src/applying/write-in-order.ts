import type { CatalogueContext, WriteTransaction } from '@skillstead/core/internal'

const bulk = { bulk: true }

/**
 * Does work for each item in a write of its own, in their order. All are handed over at once, so that they share commits.
 * Throws what the first of them threw; of those after it nothing is done, for they would leave a gap.
 */
export async function writeInOrder<Item, Result>(
  { database }: CatalogueContext,
  items: readonly Item[],
  work: (trx: WriteTransaction, item: Item) => Promise<Result>,
): Promise<Result[]> {
  let failed: { readonly error: unknown } | undefined

  async function attempt<T>(what: () => Promise<T>): Promise<T> {
    if (failed) throw failed.error
    try {
      return await what()
    } catch (error) {
      failed ??= { error }
      throw error
    }
  }

  const settled = await Promise.allSettled(
    // Within, for the next may follow in the same commit; without, for the commit itself may fail.
    items.map((item) => attempt(() => database.writer.write((trx) => attempt(() => work(trx, item)), bulk))),
  )
  if (failed) throw (failed as { error: unknown }).error
  return settled.map((one) => (one as PromiseFulfilledResult<Result>).value)
}
