import { limits } from '@skillstead/protocol'
import canonicalize from 'canonicalize'
import { type LogDraft, type SkillRow, type WriteTransaction, jsonBytes, toEntryText } from '@skillstead/core/internal'
import type { FirstOrigin, ParsedEntry } from './entry-data.ts'
import { toFirstOrigin } from './first-origins.ts'
import type { FeedEntry, MirrorSource } from './mirrored-types.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** How an entry goes on into this node's log. */
export interface Relaying {
  /** Which upstream it came from. */
  readonly upstream: string
  readonly relay: LogDraft
  /** Whether this node's log has room for it. */
  readonly fits: boolean
}

/** What the data of an entry may have beside its number, time and so on, and be said on as it is. */
const dataBytesMax = limits.logEntryBytesMax - 1024

/**
 * The entry as this node's log says it on: as it came, with where it was first. Of one that is too long for that, what
 * nobody here knows is left out.
 */
export function toRelaying(one: ParsedEntry, source: MirrorSource): Relaying {
  const { subject, digest, data } = one.entry
  const origin = toFirstOrigin(one.entry, source)
  const whole = { ...data, origin }
  const relay = { type: one.type, subject, digest, data: whole }
  if (jsonBytes(whole) <= dataBytesMax) return { upstream: source.name, relay, fits: true }
  const known = { ...relay, data: { ...toKnown(one), origin } }
  return { upstream: source.name, relay: known, fits: fitsLog(known) }
}

/** The same of a skill that has another id here: whoever follows this node knows it by that one. */
export function toldOf(relaying: Relaying, here: Pick<SkillRow, 'id'> | undefined): Relaying {
  const { relay } = relaying
  const said = relay.data['skill'] as { readonly id: string } | undefined
  if (!here || !said || said.id === here.id) return relaying
  return { ...relaying, relay: { ...relay, data: { ...relay.data, skill: { ...said, id: here.id } } } }
}

function toKnown({ data, entry }: ParsedEntry): Record<string, unknown> {
  const { publishedAt, cut, files, size, portable } = entry.data
  return {
    ...data,
    ...('publishedAt' in data && { publishedAt, files }),
    ...('cut' in data && { cut }),
    ...(typeof size === 'number' && { size }),
    ...(typeof portable === 'boolean' && { portable }),
  }
}

function fitsLog({ type, subject, digest, data }: LogDraft): boolean {
  try {
    toEntryText({ seq: Number.MAX_SAFE_INTEGER, type, at: new Date(0).toISOString(), subject, digest, data })
    return true
  } catch {
    return false
  }
}

/**
 * Whether this very entry was said on already, so that whatever it brought about is here, and whatever changed since came
 * after it: the log of an upstream may be read from its beginning again.
 */
export async function wasSaid(trx: WriteTransaction, { type, subject, data }: LogDraft): Promise<boolean> {
  const rows = await trx
    .selectFrom('log')
    .select('entry')
    .where('subject', '=', subject)
    .where('type', '=', type)
    .orderBy('seq', 'desc')
    .limit(comparedMax)
    .execute()
  const wanted = toComparable(data)
  return rows.some(({ entry }) => toComparable((JSON.parse(entry) as FeedEntry).data) === wanted)
}

/** Who holds the short name is decided on each node. */
function toComparable(data: FeedEntry['data']): string | undefined {
  return canonicalize({ ...data, holder: null })
}

/**
 * Whether this node's log has not said the like since it told that the skill is gone. What comes into public sight again
 * brings its whole history along, and of that nothing is left out, though all of it is here.
 */
export async function isUntold(trx: WriteTransaction, { type, subject }: LogDraft, fullName: string): Promise<boolean> {
  const told = await readNewest(trx, subject, [type])
  return told === 0 || told < (await readNewest(trx, fullName, ['withdrawn', 'takedown']))
}

async function readNewest(trx: WriteTransaction, subject: string, types: readonly string[]): Promise<number> {
  const row = await trx
    .selectFrom('log')
    .select('seq')
    .where('subject', '=', subject)
    .where('type', 'in', types)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** So many entries about a skill are looked at for a later one. */
const laterMax = 200

/** Whether this node's log has said of a skill what its source said after this entry. */
export async function isOvertaken(
  trx: WriteTransaction,
  { full_name }: Pick<SkillRow, 'full_name'>,
  { data }: LogDraft,
  versions: readonly { readonly version: string }[],
): Promise<boolean> {
  const { origin, epoch, seq } = data['origin'] as FirstOrigin
  const rows = await trx
    .selectFrom('log')
    .select('entry')
    .where('subject', 'in', [full_name, ...versions.map(({ version }) => `${full_name}@${version}`)])
    .where('type', 'in', ['version', 'skill'])
    .orderBy('seq', 'desc')
    .limit(laterMax)
    .execute()
  return rows.some(({ entry }) => {
    const said = (JSON.parse(entry) as FeedEntry).data['origin'] as FirstOrigin | undefined
    return said?.origin === origin && said.epoch === epoch && said.seq > seq
  })
}

/** So many entries about one thing are looked at for one that has been here before. */
const comparedMax = 20

/**
 * Whether an entry of one upstream is one that came in from another, which both have from the same place: then there is
 * nothing to tell the operator.
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
    const origin = (JSON.parse(row.entry) as FeedEntry).data['origin'] as FirstOrigin | undefined
    return origin?.origin === first.origin && origin.epoch === first.epoch && origin.seq === first.seq
  })
}
