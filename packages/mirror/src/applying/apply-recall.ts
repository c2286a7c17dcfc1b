import {
  activeRecallsMax,
  countActiveRecalls,
  markSynced,
  putRecalls,
  readRecalls,
  refreshSkill,
  withRecall,
  type CatalogueContext,
  type SkillRow,
  type StoredRecall,
  type WriteTransaction,
} from '@skillstead/core/internal'
import * as v from 'valibot'
import { toApplied, type Change } from './apply-changes.ts'
import { LoggedRecall, toEntryTime, type RecallEntry } from './entry-data.ts'
import type { MirrorOutcome, MirrorRelease } from './mirrored-types.ts'
import { refusePlace } from './place-skill.ts'
import { wasRelayed } from './relay-entries.ts'

type Logged = RecallEntry['data']['recall']

const unchanged: MirrorOutcome = { result: 'unchanged' }

/**
 * Applies a recall of an upstream, or its end. The recalls of this node stay: an upstream cannot end them. A recall that
 * this node knows already is not applied again, so that an old entry does not restore an ended one.
 */
export async function applyRecall(
  context: CatalogueContext,
  trx: WriteTransaction,
  { data, entry }: RecallEntry,
  { before, relaying }: Change,
): Promise<MirrorOutcome> {
  const recalls = readRecalls(before)
  const known = recalls.find(({ id }) => id === data.recall.id)
  const isNews = data.ended ? known?.upstream === true && known.endedAt === undefined : known === undefined
  if (!isNews || (await wasRelayed(trx, relaying.relay))) return unchanged
  const at = context.clock.now()
  const recall = known ? { ...known, endedAt: toEntryTime(entry, at) } : toUpstreamRecall(data.recall, at)
  if (!known && isFull(recalls))
    return refusePlace('malformed', `${before.full_name} has more active recalls than a skill can have.`)
  await putRecalls(context, trx, before, withRecall(recalls, recall), recall)
  await markSynced(trx, before.id, at)
  const cause = { type: 'recall', recall } as const
  return toApplied(
    before,
    await refreshSkill(context, trx, { skillId: before.id, before, cause, at, relay: relaying.relay }),
  )
}

/**
 * The recalls of a skill after an entry of a version, which names the active ones that cover the version: entries of
 * recalls came before, and were ignored if the skill was not here. A skill that its source had withdrawn comes with all
 * of its active recalls. Undefined if they stay as they are.
 */
export function mergeRecalls(
  before: SkillRow | undefined,
  logged: readonly Logged[],
  now: number,
): StoredRecall[] | undefined {
  const all = before ? readRecalls(before) : []
  const base = before && before.source_state !== 'live' ? all.filter(({ upstream }) => !upstream) : all
  const news = logged.filter(({ id }) => !base.some((one) => one.id === id))
  if (base.length === all.length && news.length === 0) return undefined
  return news.reduce<StoredRecall[]>(
    (recalls, one) => (isFull(recalls) ? recalls : withRecall(recalls, toUpstreamRecall(one, now))),
    base,
  )
}

/** The recalls of a skill after a release whose source states the active ones. Undefined if it states none or bad ones. */
export function replaceRecalls(
  before: SkillRow | undefined,
  { recalls }: Pick<MirrorRelease, 'recalls'>,
  now: number,
): StoredRecall[] | undefined {
  const parsed = v.safeParse(v.pipe(v.array(LoggedRecall), v.maxLength(activeRecallsMax)), recalls)
  if (!parsed.success) return undefined
  const own = before ? readRecalls(before).filter(({ upstream }) => !upstream) : []
  return parsed.output.reduce<StoredRecall[]>((all, one) => withRecall(all, toUpstreamRecall(one, now)), own)
}

/** Whether the upstream has as many active recalls of a skill as a node can have. */
function isFull(recalls: readonly StoredRecall[]): boolean {
  return countActiveRecalls(recalls, 'upstream') >= activeRecallsMax
}

/** A recall that came from an upstream. `at`: milliseconds since 1970. */
function toUpstreamRecall({ id, range, reason, at }: Logged, now: number): StoredRecall {
  return { id, range, reason, at: Math.min(at, now), upstream: true }
}
