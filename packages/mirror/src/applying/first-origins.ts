import { toFields } from '@skillstead/protocol'
import { parseJson, type LogDraft, type SkillRow, type WriteTransaction } from '@skillstead/core/internal'
import type { FirstOrigin } from './entry-data.ts'
import type { FeedEntry } from '../types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * Adds to entries of versions the log that had them first. Called for entries that this node's log publishes again, for
 * example after a skill was hidden for a while. By this field, an upstream that mirrors this node recognizes its own
 * entries.
 */
export async function addFirstOrigins(
  trx: WriteTransaction,
  skill: Pick<SkillRow, 'origin_upstream'>,
  drafts: readonly LogDraft[],
): Promise<LogDraft[]> {
  const subjects = drafts.filter(({ type }) => type === 'version').map(({ subject }) => subject)
  if (subjects.length === 0 || skill.origin_upstream === null) return [...drafts]
  const rows = await withUpstreams(trx)
    .selectFrom('upstream_log')
    .innerJoin('upstreams', 'upstreams.name', 'upstream_log.upstream')
    .select(['subject', 'entry', 'log_origin', 'log_epoch'])
    .where('upstream', '=', skill.origin_upstream)
    .where('subject', 'in', subjects)
    .where('type', '=', 'version')
    .whereRef('seq', '<=', 'verified')
    .orderBy('seq')
    .execute()
  const origins = new Map(
    rows.map(({ subject, entry, log_origin: origin, log_epoch: epoch }) => {
      const source = { origin: origin ?? '', epoch: epoch ?? 0 }
      return [subject, toFirstOrigin(parseJson(entry), source)]
    }),
  )
  return drafts.map((draft) => {
    const origin = draft.type === 'version' ? origins.get(draft.subject) : undefined
    return origin ? { ...draft, data: { ...draft.data, origin } } : draft
  })
}

/** The log that had an entry first, if the entry names it. */
export function readFirstOrigin(data: FeedEntry['data']): FirstOrigin | undefined {
  const { origin, epoch, seq } = toFields(data['origin'])
  if (typeof origin !== 'string' || typeof epoch !== 'number' || typeof seq !== 'number') return undefined
  return { origin, epoch, seq }
}

/** The log that had an entry first: the log that the entry names, else the log from which the entry was read. */
export function toFirstOrigin(
  { seq, data }: Pick<FeedEntry, 'seq' | 'data'>,
  { origin, epoch }: { origin: string; epoch: number },
): FirstOrigin {
  return readFirstOrigin(data) ?? { origin, epoch, seq }
}
