import {
  parseJson,
  jsonBytes,
  toEntryText,
  type LogDraft,
  type SkillRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { limits, attempt, isRecord } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { withUpstreams } from '../tables/mirror-tables.ts'
import type { FeedEntry } from '../types.ts'
import type { FirstOrigin, ParsedEntry } from './entry-data.ts'
import { readFirstOrigin, toFirstOrigin } from './first-origins.ts'
import type { MirrorSource } from './mirrored-types.ts'

/**
 * How an applied entry is relayed: this node's own log publishes it too, so that mirrors of this mirror import it. The
 * relayed entry has the upstream's data, and in `origin` the log that had it first.
 */
export interface Relaying {
  /** Name of the upstream. */
  readonly upstream: string
  /** The entry for this node's log. */
  readonly relay: LogDraft
  /** Whether the entry is short enough for this node's log. */
  readonly fits: boolean
}

/** Maximum size of an entry's data, which leaves room for the number, time and other fields of the entry. */
const dataBytesMax = limits.logEntryBytesMax - 1024

/**
 * Converts an entry for this node's log. If the result is too long, fields that this version of the program does not
 * know are omitted.
 */
export function toRelaying(one: ParsedEntry, source: MirrorSource): Relaying {
  const { subject, digest, data } = one.entry
  const origin = toFirstOrigin(one.entry, source)
  const whole = { ...data, origin }
  const relay = { type: one.type, subject, digest, data: whole }
  if (jsonBytes(whole) <= dataBytesMax) return { upstream: source.name, relay, fits: true }
  const shortened = { ...relay, data: { ...toKnownFields(one), origin } }
  return { upstream: source.name, relay: shortened, fits: fitsLog(shortened) }
}

/** Replaces the id of a skill that has another id on this node, because mirrors of this node know only the id here. */
export function relayedAs(relaying: Relaying, stored: Pick<SkillRow, 'id'> | undefined): Relaying {
  const { relay } = relaying
  const { skill } = relay.data
  if (!stored || !isRecord(skill) || skill['id'] === stored.id) return relaying
  return { ...relaying, relay: { ...relay, data: { ...relay.data, skill: { ...skill, id: stored.id } } } }
}

function toKnownFields({ data, entry }: ParsedEntry): Record<string, unknown> {
  const { publishedAt, cut, files, size, portable, recall, recalls, ranAt, postedAt } = entry.data
  return {
    ...data,
    ...('publishedAt' in data && { publishedAt, files }),
    ...('cut' in data && { cut }),
    ...('ranAt' in data && { ranAt, postedAt }),
    ...('recall' in data && { recall }),
    ...('recalls' in data && recalls !== undefined && { recalls }),
    ...(typeof size === 'number' && { size }),
    ...(typeof portable === 'boolean' && { portable }),
  }
}

function fitsLog({ type, subject, digest, data }: LogDraft): boolean {
  const entry = { seq: Number.MAX_SAFE_INTEGER, type, at: new Date(0).toISOString(), subject, digest, data }
  return attempt(() => toEntryText(entry)) !== undefined
}

/**
 * Whether an entry was relayed before, which happens when the upstream's log is read from its beginning again. The
 * change of this entry, and of later ones, is then already stored.
 */
export async function wasRelayed(trx: WriteTransaction, { type, subject, data }: LogDraft): Promise<boolean> {
  const entries = await readNewestEntries(trx, [subject], [type], comparedMax)
  const wanted = toComparable(data)
  return entries.some((entry) => toComparable(entry.data) === wanted)
}

/** The data of an entry as text, without the holder of the short name, on which each node decides itself. */
function toComparable(data: FeedEntry['data']): string | undefined {
  return canonicalize({ ...data, holder: null })
}

/**
 * Whether the entry must be added to this node's log although its content is stored already: the log has no entry about
 * the subject, or none since the skill was removed. A restored skill is published again with its whole history. `part`:
 * a text that the searched entries must contain, for subjects with entries of several users.
 */
export async function needsRelay(
  trx: WriteTransaction,
  { type, subject }: LogDraft,
  fullName: string,
  part = '',
): Promise<boolean> {
  const [last] = await readNewestEntries(trx, [subject], [type], 1, part)
  const [removal] = await readNewestEntries(trx, [fullName], ['withdrawn', 'takedown'], 1)
  return !last || last.seq < (removal?.seq ?? 0)
}

/** Maximum number of a skill's entries that are searched for an entry that is later than the given one. */
const laterMax = 200

/** Whether this node's log has an entry about the skill that the same source log published after the given entry. */
export async function isSuperseded(
  trx: WriteTransaction,
  { full_name }: Pick<SkillRow, 'full_name'>,
  { data }: LogDraft,
  versions: readonly { readonly version: string }[],
): Promise<boolean> {
  const { origin, epoch, seq } = readFirstOrigin(data)!
  const subjects = [full_name, ...versions.map(({ version }) => `${full_name}@${version}`)]
  const entries = await readNewestEntries(trx, subjects, ['version', 'skill'], laterMax)
  return entries.some((entry) => {
    const first = readFirstOrigin(entry.data)
    return first?.origin === origin && first.epoch === epoch && first.seq > seq
  })
}

/** Maximum number of entries of one subject that are compared with the given entry. */
const comparedMax = 20

/** The newest entries about the subjects in this node's own log. */
async function readNewestEntries(
  trx: WriteTransaction,
  subjects: readonly string[],
  types: readonly string[],
  count: number,
  part = '',
): Promise<FeedEntry[]> {
  const rows = await trx
    .selectFrom('log')
    .select(['seq', 'entry'])
    .where('subject', 'in', subjects)
    .where('type', 'in', types)
    .$if(part !== '', (select) => select.where('entry', 'like', `%${part}%`))
    .orderBy('seq', 'desc')
    .limit(count)
    .execute()
  return rows.map(({ seq, entry }): FeedEntry => ({ ...JSON.parse(entry), seq }))
}

/**
 * Whether an entry of one upstream was already imported from another upstream, which has it from the same log. Such an
 * entry is not reported to the operator as refused.
 */
export async function cameFromElsewhere(
  trx: WriteTransaction,
  skill: Pick<SkillRow, 'origin_upstream'>,
  { entry, first }: { entry: FeedEntry; first: FirstOrigin },
): Promise<boolean> {
  if (skill.origin_upstream === null) return false
  const other = await withUpstreams(trx)
    .selectFrom('upstreams')
    .select(['log_origin', 'log_epoch', 'applied'])
    .where('name', '=', skill.origin_upstream)
    .executeTakeFirst()
  if (!other) return false
  if (other.log_origin === first.origin && other.log_epoch === first.epoch) return first.seq <= other.applied
  const rows = await withUpstreams(trx)
    .selectFrom('upstream_log')
    .select('entry')
    .where('subject', '=', entry.subject)
    .where('upstream', '=', skill.origin_upstream)
    .where('seq', '<=', other.applied)
    .orderBy('seq', 'desc')
    .limit(comparedMax)
    .execute()
  return rows.some((row) => {
    const origin = readFirstOrigin(parseJson(row.entry).data)
    return origin?.origin === first.origin && origin.epoch === first.epoch && origin.seq === first.seq
  })
}
