import type { CatalogueContext, WriteTransaction } from '@skillstead/core/internal'

const bulk = { bulk: true }

/**
 * Does work for each item in its own transaction, in order. All items are queued at once, so that they share commits.
 * After an error no work is done for later items, because they must not be stored without the failed one. Throws the
 * first error.
 */
export async function writeInOrder<Item, Result>(
  { database }: CatalogueContext,
  items: readonly Item[],
  work: (trx: WriteTransaction, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const failures: unknown[] = []

  async function attempt<T>(what: () => Promise<T>): Promise<T> {
    if (failures.length > 0) throw failures[0]
    try {
      return await what()
    } catch (error) {
      failures.push(error)
      throw error
    }
  }

  const settled = await Promise.allSettled(
    // Failures are noted within the transaction, because the next item may share its commit, and after it, because the
    // commit may fail.
    items.map((item) => attempt(() => database.writer.write((trx) => attempt(() => work(trx, item)), bulk))),
  )
  if (failures.length > 0) throw failures[0]
  return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
}
