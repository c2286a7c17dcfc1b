import {
  emitRecall,
  markSynced,
  readRecalls,
  refreshSkill,
  storeRecalls,
  withRecall,
  type CatalogueContext,
  type SkillRow,
  type StoredRecall,
  type WriteTransaction,
} from '@skillstead/core/internal'
import * as v from 'valibot'
import { toApplied, type Change } from './apply-changes.ts'
import { LoggedRecalls, toEntryTime, type RecallEntry } from './entry-data.ts'
import type { MirrorOutcome, MirrorRelease } from './mirrored-types.ts'
import { needsRelay, wasRelayed } from './relay-entries.ts'

type Logged = RecallEntry['data']['recall']

const unchanged: MirrorOutcome = { result: 'unchanged' }

/**
 * Applies a recall of an upstream, or its end. Recalls that this node made stay, because an upstream cannot end them. A
 * recall that is already stored is not applied again, so that an old entry does not restore a recall that ended.
 */
export async function applyRecall(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: RecallEntry,
  { before, relaying }: Change,
): Promise<MirrorOutcome> {
  const recalls = readRecalls(before)
  const known = recalls.find(({ id }) => id === data.recall.id)
  const { relay } = relaying
  const isNews = data.ended ? known?.upstream === true && known.endedAt === undefined : known === undefined
  // The entry is also relayed if this node knows the recall only from the entry of a version: mirrors of this node may
  // not have that version.
  const isNewsToMirrors =
    known?.upstream === true &&
    data.ended === (known.endedAt !== undefined) &&
    (await needsRelay(trx, relay, before.full_name, data.recall.id))
  if ((!isNews && !isNewsToMirrors) || (await wasRelayed(trx, relay))) return unchanged
  const at = context.clock.now()
  const begun = known ?? toUpstreamRecall(data.recall, at)
  const recall = isNews && data.ended ? { ...begun, endedAt: toEntryTime(entry, at) } : begun
  if (isNews) await storeRecalls(trx, before.id, withRecall(recalls, recall))
  await markSynced(trx, before.id, at)
  const cause = { type: 'recall', recall } as const
  const skill = await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay })
  if (isNews) await emitRecall(context, trx, skill, recall)
  return toApplied(before, skill)
}

/**
 * The recalls of a skill after an entry of a version. The entry names the active recalls that cover the version: their
 * own entries came earlier, and were ignored if the skill was not stored then. If the source had withdrawn the skill,
 * the entry has all active recalls of its source. A recall that ended stays ended. Undefined if the recalls do not
 * change.
 */
export function mergeRecalls(
  before: SkillRow | undefined,
  logged: readonly Logged[],
  now: number,
): ReceivedRecalls | undefined {
  const all = before ? readRecalls(before) : []
  const base = before && before.source_state !== 'live' ? all.filter(({ upstream }) => !upstream) : all
  const news = logged.filter(({ id }) => !base.some((one) => one.id === id)).map((one) => toUpstreamRecall(one, now))
  if (base.length === all.length && news.length === 0) return undefined
  return { recalls: news.reduce<StoredRecall[]>(withRecall, base), news: before ? withoutKnown(news, all) : [] }
}

/**
 * The recalls of a skill after a release that states the active recalls of its source. Undefined if the release has no
 * field `recalls`, `malformed` if they are invalid.
 */
export function replaceRecalls(
  before: SkillRow | undefined,
  { recalls }: Pick<MirrorRelease, 'recalls'>,
  now: number,
): ReceivedRecalls | 'malformed' | undefined {
  if (recalls === undefined) return undefined
  const parsed = v.safeParse(LoggedRecalls, recalls)
  if (!parsed.success) return 'malformed'
  const all = before ? readRecalls(before) : []
  const stated = parsed.output.map((one) => toUpstreamRecall(one, now))
  const own = all.filter(({ upstream }) => !upstream)
  return { recalls: stated.reduce<StoredRecall[]>(withRecall, own), news: before ? withoutKnown(stated, all) : [] }
}

function withoutKnown(recalls: readonly StoredRecall[], known: readonly StoredRecall[]): StoredRecall[] {
  return recalls.filter(({ id }) => !known.some((one) => one.id === id))
}

/** The recalls of a skill after an entry or release. */
export interface ReceivedRecalls {
  readonly recalls: readonly StoredRecall[]
  /** The recalls that this node did not know; empty for a new skill, of which no user of this node has a version. */
  readonly news: readonly StoredRecall[]
}

/** Emits an event for each new recall that came with a version. */
export async function emitRecalls(
  context: CatalogueContext,
  trx: WriteTransaction,
  skill: SkillRow,
  received: ReceivedRecalls | undefined,
): Promise<void> {
  for (const recall of received?.news ?? []) await emitRecall(context, trx, skill, recall)
}

/** Converts a recall from an upstream to its stored form. `at`: milliseconds since 1970. */
function toUpstreamRecall({ id, range, reason, at }: Logged, now: number): StoredRecall {
  return { id, range, reason, at: Math.min(at, now), upstream: true }
}
