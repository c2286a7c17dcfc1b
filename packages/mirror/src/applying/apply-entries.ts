import type { CatalogueContext, SkillRow, WriteTransaction } from '@skillstead/core/internal'
import { applyRemoval, applySkill, applyYank } from './apply-changes.ts'
import { applyPack } from './apply-pack.ts'
import { applyVersion } from './apply-version.ts'
import { parseEntry, type ParsedEntry, type VersionEntry } from './entry-data.ts'
import { toFirstOrigin } from './first-origins.ts'
import { findOwn, findPlace, refuse } from './place-skill.ts'
import { prepareVersions } from './prepare-versions.ts'
import { cameFromElsewhere, toRelaying, toldOf, type Relaying } from './relay-entries.ts'
import type { ApplyEntries, EntryOutcome, FeedEntry, MirrorSource } from './mirrored-types.ts'
import { writeInOrder } from './write-in-order.ts'
import { isToldHere, isWrittenHere } from './written-here.ts'

const unchanged: EntryOutcome = { result: 'unchanged' }

/** What is to be applied, before it is said what comes along with it. */
type Order = Omit<ApplyEntries, 'also'>

/**
 * Applies entries of an upstream's log to the catalogue, in order: each in a write of its own together with `also`, and
 * said on in this node's own log with where it was first. What is refused leaves everything as it was. Throws what
 * `also` throws, and what keeps the node from writing; the entries after that one are not applied.
 *
 * Content is checked against the digests of the entries, which whoever calls has proved to be in the upstream's log.
 */
export async function applyEntries(context: CatalogueContext, order: ApplyEntries): Promise<EntryOutcome[]> {
  const { write } = await prepareEntries(context, order)
  return write(order.also)
}

/** Entries that were read and looked at, and wait for their turn. */
export interface PreparedEntries {
  /** Applies them, as {@link applyEntries} does; once. */
  write(also: ApplyEntries['also']): Promise<EntryOutcome[]>
}

/**
 * The part of {@link applyEntries} that writes nothing and takes longest, so that it may be done while the entries before
 * these are still being written: what they bring about is looked up as these are written.
 */
export async function prepareEntries(context: CatalogueContext, order: Order): Promise<PreparedEntries> {
  const { entries } = order
  const judged = entries.map((entry) => judge(context, order, entry))
  const versions = judged.flatMap((judgement) =>
    'one' in judgement && judgement.one.type === 'version' ? [judgement.one] : [],
  )
  const prepared = await prepareVersions(context, versions, order.contents)
  const items = entries.map((entry, i) => ({ entry, judgement: judged[i]! }))
  return {
    write: (also) =>
      writeInOrder(context, items, async (trx, { entry, judgement }) => {
        const outcome = 'one' in judgement ? await applyOne(context, trx, { order, prepared, ...judgement }) : judgement
        await also(trx, entry, outcome)
        return outcome
      }),
  }
}

/** An entry that is to be applied. */
interface Judged {
  readonly one: ParsedEntry
  readonly relaying: Relaying
}

/** What can be said of an entry before anything is looked up. */
function judge(context: CatalogueContext, { upstream, accepts }: Order, entry: FeedEntry): Judged | EntryOutcome {
  const parsed = parseEntry(entry)
  if (parsed === undefined) return unchanged
  if (typeof parsed === 'string') return refuse('malformed', parsed)
  // It went out from here, and comes back by way of a mirror of this node.
  if (toFirstOrigin(entry, upstream).origin === context.origin) return unchanged
  const reason = accepts?.(entry)
  if (reason !== undefined) return refuse('filtered', reason)
  const relaying = toRelaying(parsed, upstream)
  if (relaying.fits) return { one: parsed, relaying }
  return refuse('malformed', `The entry ${entry.seq} is so long that this node could not say it on.`)
}

interface Applying extends Judged {
  readonly order: Order
  readonly prepared: Awaited<ReturnType<typeof prepareVersions>>
}

async function applyOne(context: CatalogueContext, trx: WriteTransaction, applying: Applying): Promise<EntryOutcome> {
  const { order, one, relaying } = applying
  if (one.type === 'pack') return applyPack(context, trx, one, relaying)
  if (one.type === 'version' || one.type === 'skill') {
    const found = await findTarget(trx, order.upstream, one, relaying)
    if ('result' in found) return found
    const { before } = found
    const told = toldOf(relaying, before)
    if (one.type === 'version') return applyPrepared(context, trx, { ...applying, relaying: told }, { before, one })
    // Nothing of it was let in.
    return before ? applySkill(context, trx, one, { before, relaying: told }) : unchanged
  }
  const { id: skillId, fullName } = one.data.skill
  const before = await findOwn(trx, { upstream: order.upstream.name, skillId, fullName })
  if (!before) return unchanged
  const told = toldOf(relaying, before)
  if (one.type === 'yank') return applyYank(context, trx, one, { before, relaying: told })
  return applyRemoval(context, trx, one, { before, relaying: told })
}

/** The row that the entry is about; undefined where it is of a new skill. */
async function findTarget(
  trx: WriteTransaction,
  upstream: MirrorSource,
  one: Extract<ParsedEntry, { type: 'version' | 'skill' }>,
  relaying: Relaying,
): Promise<{ readonly before: SkillRow | undefined } | EntryOutcome> {
  const { entry, data } = one
  const { skill, owner } = data
  const wanted = { upstream: upstream.name, skillId: skill.id, owner: owner.username, fullName: skill.fullName }
  const { skill: before, stranger, refusal } = await findPlace(trx, wanted)
  if (!refusal) return { before }
  // Its own that came back another way, or one that came in from another upstream that has it from the same place.
  if (stranger?.id === skill.id && isWrittenHere(stranger)) return unchanged
  // Published here, and there from here; or it came from there before its namespace was claimed.
  if (stranger && (await isToldHere(trx, stranger, one, toldOf(relaying, stranger)))) return unchanged
  const first = toFirstOrigin(entry, upstream)
  return stranger && (await cameFromElsewhere(trx, stranger, { entry, first })) ? unchanged : refusal
}

async function applyPrepared(
  context: CatalogueContext,
  trx: WriteTransaction,
  { order, prepared, relaying }: Applying,
  { before, one }: { before: SkillRow | undefined; one: VersionEntry },
): Promise<EntryOutcome> {
  const ready = prepared.get(one)
  if (ready && 'result' in ready) return ready
  const reason = ready && order.acceptsScan?.(one.entry, ready.inspection.scan)
  if (reason !== undefined) return refuse('filtered', reason)
  return applyVersion(context, trx, one, { before, prepared: ready, relaying, isReread: order.isReread ?? false })
}
