import { entriesOf } from '@skillstead/protocol'
import {
  toSettingsColumns,
  type CatalogueContext,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import type { FeedEntry } from '../types.ts'
import { applyRemoval, applySkill, applyYank } from './apply-changes.ts'
import { applyEvaluation } from './apply-evaluation.ts'
import { applyRecall } from './apply-recall.ts'
import { applyPack } from './apply-pack.ts'
import { applyVersion } from './apply-version.ts'
import { parseFeedEntry, type ParsedEntry, type SkillEntry, type VersionEntry } from './entry-data.ts'
import { toFirstOrigin } from './first-origins.ts'
import type { ApplyEntries, MirrorOutcome } from './mirrored-types.ts'
import { findOwn, findPlace, isVersionHere, isWrittenHere, refusePlace } from './place-skill.ts'
import { prepareVersions } from './prepare-versions.ts'
import { cameFromElsewhere, relayedAs, toRelaying, wasRelayed, type Relaying } from './relay-entries.ts'
import { toMirroredSettings } from './update-skill.ts'
import { writeInOrder } from './write-in-order.ts'

const unchanged: MirrorOutcome = { result: 'unchanged' }

/** The options of {@link applyEntries} without `also`, which only the writing part needs. */
type Order = Omit<ApplyEntries, 'also'>

/**
 * Applies verified entries of an upstream's log to the catalogue in order, each in its own transaction together with
 * `also`, and checks content against its digests. Each entry is also published in this node's own log, with a reference
 * to the log that had it first. A refused entry changes nothing; a version that fails in the database is refused. After
 * an error of `also` or another error of the database, which is thrown, no later entry is applied.
 */
export async function applyEntries(context: CatalogueContext, order: ApplyEntries): Promise<MirrorOutcome[]> {
  const { write } = await prepareEntries(context, order)
  return write(order.also)
}

/** Entries that were read and scanned, ready to be written. */
export interface PreparedEntries {
  /** Applies the entries, as {@link applyEntries} does. Call it once. */
  write(also: ApplyEntries['also']): Promise<MirrorOutcome[]>
}

/**
 * The slow part of {@link applyEntries}, which writes nothing. It may run while earlier entries are still being
 * written, because everything that depends on them is read during the write.
 */
export async function prepareEntries(context: CatalogueContext, order: Order): Promise<PreparedEntries> {
  const items = order.entries.map((entry) => ({ entry, checked: checkMirroredEntry(context, order, entry) }))
  const versions = items.flatMap(({ checked }) =>
    'one' in checked && checked.one.type === 'version' ? [checked.one] : [],
  )
  const prepared = await prepareVersions(context, versions, order.contents)
  return {
    write: (also) =>
      writeInOrder(context, items, {
        apply: async (trx, { checked }) =>
          'one' in checked ? applyOne(context, trx, { order, prepared, ...checked }) : checked,
        also: (trx, { entry }, outcome) => also(trx, entry, outcome),
        // A removal, recall or yank that is skipped would leave on this node what its author withdrew.
        toSkippable: ({ entry }) => (entry.type === 'version' ? entry.subject : undefined),
      }),
  }
}

/** An entry that passed the checks for which no database is needed. */
interface Accepted {
  readonly one: ParsedEntry
  readonly relaying: Relaying
}

function checkMirroredEntry(
  context: CatalogueContext,
  { upstream, accepts }: Order,
  entry: FeedEntry,
): Accepted | MirrorOutcome {
  const parsed = parseFeedEntry(entry)
  if (parsed === undefined) return unchanged
  if (typeof parsed === 'string') return refusePlace('malformed', parsed)
  // This node published the entry first, and it returns through a mirror of this node.
  if (toFirstOrigin(entry, upstream).origin === context.origin) return unchanged
  const reason = accepts?.(entry)
  if (reason !== undefined) return refusePlace('filtered', reason)
  const relaying = toRelaying(parsed, upstream)
  if (relaying.fits) return { one: parsed, relaying }
  return refusePlace('malformed', `Entry ${entry.seq} is too long for the log of this node.`)
}

interface Applying extends Accepted {
  readonly order: Order
  readonly prepared: Awaited<ReturnType<typeof prepareVersions>>
}

async function applyOne(context: CatalogueContext, trx: WriteTransaction, applying: Applying): Promise<MirrorOutcome> {
  const { order, one, prepared } = applying
  if (one.type === 'pack') return applyPack(context, trx, one, applying.relaying)
  const found = await findEntryTarget(trx, applying, one)
  if ('result' in found) return found
  const { before } = found
  const relaying = relayedAs(applying.relaying, before)
  if (one.type === 'version') {
    const ready = prepared.get(one)
    if (ready && 'result' in ready) return ready
    const reason = ready && order.acceptsScan?.(one.entry, ready.inspection.scan)
    if (reason !== undefined) return refusePlace('filtered', reason)
    return applyVersion(context, trx, one, { before, prepared: ready, relaying, isReread: order.isReread ?? false })
  }
  // The entry changes a skill of which no version was imported.
  if (!before) return unchanged
  if (one.type === 'skill') return applySkill(context, trx, one, { before, relaying })
  if (one.type === 'yank') return applyYank(context, trx, one, { before, relaying })
  if (one.type === 'evaluation') return applyEvaluation(context, trx, one, { before, relaying })
  if (one.type === 'recall') return applyRecall(context, trx, one, { before, relaying })
  return applyRemoval(context, trx, one, { before, relaying })
}

/** The stored skill that an entry concerns; undefined for a new skill. */
async function findEntryTarget(
  trx: WriteTransaction,
  { order: { upstream }, relaying }: Applying,
  one: Exclude<ParsedEntry, { type: 'pack' }>,
): Promise<{ readonly before: SkillRow | undefined } | MirrorOutcome> {
  const { entry, data } = one
  const { id: skillId, fullName } = data.skill
  if (one.type !== 'version' && one.type !== 'skill') {
    return { before: await findOwn(trx, { upstream: upstream.name, skillId, fullName }) }
  }
  const wanted = { upstream: upstream.name, skillId, owner: data.owner.username, fullName }
  const { skill: before, stranger, refusal } = await findPlace(trx, wanted)
  if (!refusal) return { before }
  if (!stranger) return refusal
  // The entry is about a skill of this node, which other registries relayed back.
  if (stranger.id === skillId && isWrittenHere(stranger)) return unchanged
  // The version was published here and sent to the upstream, or imported before its namespace was claimed.
  if (await isKnownHere(trx, stranger, one, relayedAs(relaying, stranger))) return unchanged
  // The entry was imported before, from another upstream that relays the same log.
  const first = toFirstOrigin(entry, upstream)
  return (await cameFromElsewhere(trx, stranger, { entry, first })) ? unchanged : refusal
}

/**
 * Whether an entry changes nothing: a skill of this node already has its values, or it was applied before a user
 * claimed the namespace.
 */
async function isKnownHere(
  trx: WriteTransaction,
  skill: SkillRow,
  { type, data, entry }: VersionEntry | SkillEntry,
  { upstream, relay }: Relaying,
): Promise<boolean> {
  if (type === 'version') return isVersionHere(trx, skill, { upstream, version: data.version, digest: entry.digest })
  if (skill.origin_upstream === upstream && (await wasRelayed(trx, relay))) return true
  if (!isWrittenHere(skill)) return false
  const columns = entriesOf(toSettingsColumns(toMirroredSettings(data)))
  return columns.every(([column, value]) => skill[column] === value)
}
