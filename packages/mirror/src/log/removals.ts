import { parseEntry } from '../applying/entry-data.ts'
import type { EntryOutcome } from '../applying/mirrored-types.ts'
import { parseForeignJson } from '@skillstead/protocol'
import { SyncAlarm } from '../alarms.ts'
import type { Run } from '../run.ts'
import type { FeedEntry } from '../types.ts'
import { toFullName } from './wanted-entries.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/** A run may hide one in so many of the skills that came from its upstream, and these numbers at least and at most. */
const share = 100
const hiddenMin = 5
const hiddenMax = 20
/** So many entries are in memory at a time, whatever an upstream signed. */
const readMax = 200

/** The names that a log takes out of sight after a position, each with the entry that does so last. */
export async function readSuperseded(run: Run, after: number, until: number): Promise<Map<string, number>> {
  const superseded = new Map<string, number>()
  const query = selectEntries(run, until).select('subject').where('type', 'in', ['withdrawn', 'takedown'])
  for (let at = after; ;) {
    const rows = await query.where('seq', '>', at).execute()
    for (const { seq, subject } of rows) superseded.set(toFullName({ subject }), seq)
    if (rows.length < readMax) return superseded
    at = rows.at(-1)!.seq
  }
}

/** What of a skill's sight an entry changes. */
interface Change {
  readonly type: string
  readonly skillId: string
  readonly fullName: string
  readonly version: string
  readonly digest: string
  readonly yanked: boolean
}

/** A skill that is in sight now, and what would be left of it. */
interface Prospect {
  isGone: boolean
  /** By number. */
  readonly versions: Map<string, { readonly digest: string; readonly yanked: boolean }>
}

/** Watches what a run hides while it applies. */
export interface HidingGuard {
  /** Throws the alarm `mass_removal` at the first skill too many, and so undoes the transaction that hides it. */
  check(entry: FeedEntry, outcome: EntryOutcome): void
}

const noGuard: HidingGuard = { check: () => undefined }

/**
 * Throws the alarm `mass_removal` where more skills would be hidden at the end than a mistake or a break-in upstream may
 * take from here unseen; nothing is applied by then. What a log says is not always what comes of it, for what it tells of
 * a skill after a removal may be refused here: so the rest is watched by what this returns.
 */
export async function guardSight(run: Run, after: number, until: number): Promise<HidingGuard> {
  if (run.options.allowRemovals) return noGuard
  const prospects = await readThreatened(run, after, until)
  if (prospects.size <= hiddenMin) return noGuard
  const query = selectEntries(run, until).where('type', 'in', ['version', 'yank', 'withdrawn', 'takedown'])
  await forEachChange(query, after, (changes) => {
    for (const change of changes) {
      const prospect = prospects.get(change.skillId)
      if (prospect) apply(prospect, change)
    }
  })
  const limit = await readLimit(run)
  const hidden = [...prospects.values()].filter(isHidden).length
  if (hidden > limit) throw toAlarm(hidden, limit)
  return createGuard(prospects, limit)
}

function createGuard(prospects: ReadonlyMap<string, Prospect>, limit: number): HidingGuard {
  const hidden = new Set<string>()
  return {
    check(entry, outcome) {
      if (outcome.result !== 'applied' || entry.type === 'pack') return
      const { id: skillId } = entry.data['skill'] as { id: string }
      if (outcome.shown) hidden.delete(skillId)
      // What a yank does, or one that is taken back, was foreseen to the letter.
      if (!outcome.hid || entry.type === 'yank' || !prospects.has(skillId)) return
      hidden.add(skillId)
      if (hidden.size > limit) throw toAlarm(hidden.size, limit)
    },
  }
}

function isHidden({ isGone, versions }: Prospect): boolean {
  return isGone || versions.values().every(({ yanked }) => yanked)
}

function apply(prospect: Prospect, { type, version, digest, yanked }: Change): void {
  const { versions } = prospect
  if (type !== 'yank') prospect.isGone = type !== 'version'
  if (type === 'version' || (type === 'yank' && versions.get(version)?.digest === digest)) {
    versions.set(version, { digest, yanked })
  }
}

/** The skills in sight of which something is taken away, whatever comes after that. */
async function readThreatened(run: Run, after: number, until: number): Promise<Map<string, Prospect>> {
  const prospects = new Map<string, Prospect>()
  const query = selectEntries(run, until).where((eb) =>
    eb.or([
      eb('type', 'in', ['withdrawn', 'takedown', 'yank']),
      // Canonical JSON has no spaces.
      eb.and([eb('type', '=', 'version'), eb('entry', 'like', '%"yanked":true%')]),
    ]),
  )
  await forEachChange(query, after, async (changes) => {
    // By name as well: what a log that was built anew calls otherwise went on under the id that it had.
    const names = new Map(changes.map(({ skillId, fullName }) => [skillId, fullName]))
    for (const id of prospects.keys()) names.delete(id)
    if (names.size === 0) return
    const rows = await readLiveVersions(run, names)
    for (const [id, name] of names) {
      const own = rows.filter((row) => row.id === id)
      const versions = own.length > 0 ? own : rows.filter((row) => row.full_name === name)
      if (versions.length === 0) continue
      prospects.set(id, {
        isGone: false,
        versions: new Map(versions.map(({ version, digest }) => [version, { digest, yanked: false }])),
      })
    }
  })
  return prospects
}

type Query = ReturnType<typeof selectEntries>

function selectEntries({ parts, upstream }: Run, until: number) {
  return withUpstreams(parts.context.database.read)
    .selectFrom('upstream_log')
    .select('seq')
    .where('upstream', '=', upstream.name)
    .where('seq', '<=', until)
    .orderBy('seq')
    .limit(readMax)
}

async function forEachChange(
  query: Query,
  after: number,
  work: (changes: readonly Change[]) => Promise<void> | void,
): Promise<void> {
  for (let at = after; ;) {
    const rows = await query.select(['type', 'entry']).where('seq', '>', at).execute()
    await work(rows.flatMap(({ entry }) => toChange(parseForeignJson(entry) as FeedEntry) ?? []))
    if (rows.length < readMax) return
    at = rows.at(-1)!.seq
  }
}

/** Undefined of what makes no sense, and will be refused. */
function toChange(entry: FeedEntry): Change | undefined {
  const parsed = parseEntry(entry)
  if (parsed === undefined || typeof parsed === 'string' || parsed.type === 'pack') return undefined
  const { type, data } = parsed
  const [version, yanked] = 'version' in data ? [data.version, data.yanked] : ['', false]
  const { id: skillId, fullName } = data.skill
  return { type, skillId, fullName, version, digest: entry.digest ?? '', yanked }
}

/** The versions that are in sight, of these skills (ids, with their names) as far as they came from the upstream. */
function readLiveVersions(run: Run, names: ReadonlyMap<string, string>) {
  return selectOwn(run)
    .innerJoin('versions', 'versions.skill_id', 'skills.id')
    .select(['skills.id', 'skills.full_name', 'versions.version', 'versions.digest'])
    .where((eb) => eb.or([eb('skills.id', 'in', [...names.keys()]), eb('skills.full_name', 'in', [...names.values()])]))
    .where('skills.state', '=', 'live')
    .where('versions.yanked', '=', 0)
    .execute()
}

/** How many skills a run may hide without a word. */
async function readLimit(run: Run): Promise<number> {
  const { skills } = await selectOwn(run)
    .select((eb) => eb.fn.countAll<number>().as('skills'))
    .executeTakeFirstOrThrow()
  return Math.min(hiddenMax, Math.max(hiddenMin, Math.floor(Number(skills) / share)))
}

/**
 * The skills that came from the upstream. Of a first sync that was broken off those that it brought in itself do not
 * count: they go as they came.
 */
function selectOwn({ parts, upstream }: Run) {
  const query = parts.context.database.read.selectFrom('skills').where('skills.origin_upstream', '=', upstream.name)
  return upstream.syncedAt === null ? query.where('skills.origin_synced_at', '<', upstream.createdAt) : query
}

function toAlarm(hidden: number, limit: number): SyncAlarm {
  const sentence = `It would hide ${hidden} skills at once, and ${limit} are the most that go without a word.`
  return new SyncAlarm('mass_removal', sentence)
}
