import type { CatalogueContext, WriteTransaction } from '@skillstead/core/internal'

const bulk = { bulk: true }

/**
 * Does work for each item in its own transaction, in order. All are queued at once, so that they share commits. After
 * an error nothing is done for the later items, because they would leave a gap; throws that first error.
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
    // Checked in the transaction, because the next item may share its commit, and after it, because the commit may
    // fail.
    items.map((item) => attempt(() => database.writer.write((trx) => attempt(() => work(trx, item)), bulk))),
  )
  if (failed) throw (failed as { error: unknown }).error
  return settled.map((one) => (one as PromiseFulfilledResult<Result>).value)
}
