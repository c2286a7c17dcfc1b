import { toRegistryError, type CatalogueContext, type WriteTransaction } from '@skillstead/core/internal'
import { RegistryError } from '@skillstead/protocol'
import type { MirrorOutcome } from './mirrored-types.ts'
import { refusePlace, type Refusal } from './place-skill.ts'

const bulk = { bulk: true }

/** How items of an upstream are written. */
export interface Writing<Item> {
  /** Applies an item. An error rolls back what was done for the item. */
  apply(trx: WriteTransaction, item: Item): Promise<MirrorOutcome>
  /** Called in the same transaction with the outcome. An error ends the writing. */
  also(trx: WriteTransaction, item: Item, outcome: MirrorOutcome): Promise<void>
  /** The name of an item that may be skipped if the database cannot store it; undefined for an item that must be applied. */
  toSkippable(item: Item): string | undefined
}

/**
 * Applies each item in its own transaction, in order. All items are queued at once, so that they share commits. After
 * an error nothing is done for later items, because they must not be stored without the failed one. An item that fails
 * in the database and may be skipped is refused, and the items after it are applied. Throws the first other error.
 */
export async function writeInOrder<Item>(
  context: CatalogueContext,
  items: readonly Item[],
  writing: Writing<Item>,
): Promise<MirrorOutcome[]> {
  const { writer } = context.database
  const outcomes: MirrorOutcome[] = []
  while (outcomes.length < items.length) {
    const { written, failure } = await writeUntilFailure(context, items.slice(outcomes.length), writing)
    outcomes.push(...written)
    if (!failure) break
    const item = items[outcomes.length]!
    const outcome = toRefusal(context, failure, writing.toSkippable(item))
    await writer.write((trx) => writing.also(trx, item, outcome), bulk)
    outcomes.push(outcome)
  }
  return outcomes
}

/** The error of the first item that was not written. */
interface Failure {
  readonly error: unknown
  /** Whether the item itself failed to be applied. */
  readonly isOfItem: boolean
}

async function writeUntilFailure<Item>(
  { database }: CatalogueContext,
  items: readonly Item[],
  { apply, also }: Writing<Item>,
): Promise<{ written: MirrorOutcome[]; failure: Failure | undefined }> {
  const failures: unknown[] = []
  /** The items that could not be applied. */
  const failed = new Set<Item>()

  async function attempt<T>(what: () => Promise<T>): Promise<T> {
    if (failures.length > 0) throw failures[0]
    try {
      return await what()
    } catch (error) {
      failures.push(error)
      throw error
    }
  }

  async function write(trx: WriteTransaction, item: Item): Promise<MirrorOutcome> {
    const outcome = await apply(trx, item).catch((error: unknown) => {
      failed.add(item)
      throw error
    })
    await also(trx, item, outcome)
    return outcome
  }

  const settled = await Promise.allSettled(
    // Failures are noted within the transaction, because the next item may share its commit, and after it, because the
    // commit may fail.
    items.map((item) => attempt(() => database.writer.write((trx) => attempt(() => write(trx, item)), bulk))),
  )
  const written = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const first = items[written.length]
  const failure = first && { error: failures[0], isOfItem: failed.has(first) }
  return { written, failure }
}

/** Throws errors that concern the storage as a whole, or more than one item. */
function toRefusal({ onError, closing }: CatalogueContext, { error, isOfItem }: Failure, name?: string): Refusal {
  const isKnown = toRegistryError(error) instanceof RegistryError
  if (!isOfItem || name === undefined || isKnown || closing.aborted) throw error
  onError(new Error(`${name} could not be mirrored.`, { cause: error }))
  return refusePlace('failed', `${name} could not be stored because of an internal error. The error log has the cause.`)
}
