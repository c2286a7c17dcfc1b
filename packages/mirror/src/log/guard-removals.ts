import { parseFeedEntry, parseEntry } from '../applying/entry-data.ts'
import type { MirrorOutcome } from '../applying/mirrored-types.ts'
import { offeredVersion, readPages } from '@skillstead/core/internal'
import { parseVersionRange } from '@skillstead/skill-format'
import { SyncAlarm } from '../alarms.ts'
import type { Run } from '../run.ts'
import type { FeedEntry } from '../types.ts'
import { toEntrySkill } from './wanted-entries.ts'
import { withUpstreams } from '../tables/mirror-tables.ts'

/**
 * The limit on the skills that one run may hide: 1 / `share` of the upstream's skills, but at least `hiddenMin` and at
 * most `hiddenMax`.
 */
const share = 100
const hiddenMin = 5
const hiddenMax = 20
/** Maximum number of entries that are in memory at a time. */
const readMax = 200

/** The skills that the log withdraws or takes down after a position, each with the number of the last such entry. */
export async function readSuperseded(run: Run, after: number, until: number): Promise<Map<string, number>> {
  const superseded = new Map<string, number>()
  const query = selectRemovalEntries(run, until).select('subject').where('type', 'in', ['withdrawn', 'takedown'])
  const read = (at: number) => query.where('seq', '>', at).execute()
  for await (const rows of readPages(after, read, ({ seq }) => seq)) {
    for (const { seq, subject } of rows) superseded.set(toEntrySkill({ subject }), seq)
  }
  return superseded
}

/** How an entry changes the visibility of a skill. */
interface Change {
  readonly type: string
  readonly skillId: string
  readonly fullName: string
  readonly version: string
  readonly digest: string
  readonly yanked: boolean
  /** The recalls that the entry begins or ends; `range` is undefined for a recall that ends. */
  readonly recalls: readonly { readonly id: string; readonly range: string | undefined }[]
}

/** A skill that is visible now, and its predicted state after the run. */
interface Prospect {
  isGone: boolean
  /** The versions of the skill by number. */
  readonly versions: Map<string, { readonly digest: string; readonly yanked: boolean }>
  /** The ranges of the recalls that the entries of the run begin, by the recall's id. */
  readonly recalls: Map<string, string>
}

/** Counts the skills that a run hides while it applies entries. */
export interface HidingGuard {
  /**
   * Called in the transaction of each entry. Pauses the sync with reason `mass_removal` at the first skill over the
   * limit, so that the transaction which would hide it is rolled back.
   */
  check(entry: FeedEntry, outcome: MirrorOutcome): void
}

const noGuard: HidingGuard = { check: () => undefined }

/**
 * Pauses the sync with reason `mass_removal`, before anything is applied, if the entries would hide more skills than a
 * mistake or break-in may remove unnoticed. The prediction can be wrong, because this node may refuse later entries of
 * a removed skill. So the returned guard also counts during the run.
 */
export async function guardVisibility(run: Run, after: number, until: number): Promise<HidingGuard> {
  if (run.options.allowRemovals) return noGuard
  const prospects = await readAffected(run, after, until)
  if (prospects.size <= hiddenMin) return noGuard
  const query = selectRemovalEntries(run, until).where('type', 'in', [
    'version',
    'yank',
    'recall',
    'withdrawn',
    'takedown',
  ])
  await forEachChange(query, after, (changes) => {
    for (const change of changes) {
      const prospect = prospects.get(change.skillId)
      if (prospect) applyToProspect(prospect, change)
    }
  })
  const limit = await readRemovalLimit(run)
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
      // Yanks and recalls are not counted, because their effects were predicted exactly.
      if (!outcome.hid || entry.type === 'yank' || entry.type === 'recall' || !prospects.has(skillId)) return
      hidden.add(skillId)
      if (hidden.size > limit) throw toAlarm(hidden.size, limit)
    },
  }
}

function isHidden({ isGone, versions, recalls }: Prospect): boolean {
  const ranges = [...recalls.values()].map(parseVersionRange)
  const isRecalled = (version: string) => ranges.some((range) => range?.includes(version))
  return isGone || versions.entries().every(([version, { yanked }]) => yanked || isRecalled(version))
}

function applyToProspect(prospect: Prospect, change: Change): void {
  const { type, version, digest, yanked } = change
  const { versions, recalls } = prospect
  for (const { id, range } of change.recalls) {
    if (range === undefined) recalls.delete(id)
    else recalls.set(id, range)
  }
  if (type === 'recall') return
  if (type !== 'yank') prospect.isGone = type !== 'version'
  if (type === 'version' || (type === 'yank' && versions.get(version)?.digest === digest)) {
    versions.set(version, { digest, yanked })
  }
}

/** The visible skills that an entry removes, or a version of which it yanks or recalls, whatever later entries say. */
async function readAffected(run: Run, after: number, until: number): Promise<Map<string, Prospect>> {
  const prospects = new Map<string, Prospect>()
  const query = selectRemovalEntries(run, until).where((eb) =>
    eb.or([
      eb('type', 'in', ['withdrawn', 'takedown', 'yank', 'recall']),
      // The patterns contain no spaces, because entries are canonical JSON.
      eb.and([
        eb('type', '=', 'version'),
        eb.or([eb('entry', 'like', '%"yanked":true%'), eb('entry', 'like', '%"recalls":[{%')]),
      ]),
    ]),
  )
  await forEachChange(query, after, async (changes) => {
    // Skills are also found by name: a rebuilt log has new ids, but its skills keep their old ids on this node.
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
        recalls: new Map(),
        versions: new Map(versions.map(({ version, digest }) => [version, { digest, yanked: false }])),
      })
    }
  })
  return prospects
}

type Query = ReturnType<typeof selectRemovalEntries>

function selectRemovalEntries({ parts, upstream }: Run, until: number) {
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
  const read = (at: number) => query.select('entry').where('seq', '>', at).execute()
  for await (const rows of readPages(after, read, ({ seq }) => seq)) {
    await work(rows.flatMap(({ entry }) => toRemoval(parseEntry(entry)) ?? []))
  }
}

/** The change of a skill by an entry; undefined for other entries, and for a malformed one, which will be refused. */
function toRemoval(entry: FeedEntry): Change | undefined {
  const parsed = parseFeedEntry(entry)
  if (parsed === undefined || typeof parsed === 'string' || parsed.type === 'pack') return undefined
  const { type, data } = parsed
  const [version, yanked] = 'yanked' in data ? [data.version, data.yanked] : ['', false]
  const { id: skillId, fullName } = data.skill
  const recalls = 'recalls' in data ? data.recalls : 'recall' in data ? [data.recall] : []
  const isEnd = 'ended' in data && data.ended
  return {
    type,
    skillId,
    fullName,
    version,
    digest: entry.digest ?? '',
    yanked,
    recalls: recalls.map(({ id, range }) => ({ id, range: isEnd ? undefined : range })),
  }
}

/** The visible versions of these skills (full names by id) that were imported from the upstream. */
function readLiveVersions(run: Run, names: ReadonlyMap<string, string>) {
  return selectMirroredSkills(run)
    .innerJoin('versions', 'versions.skill_id', 'skills.id')
    .select(['skills.id', 'skills.full_name', 'versions.version', 'versions.digest'])
    .where((eb) => eb.or([eb('skills.id', 'in', [...names.keys()]), eb('skills.full_name', 'in', [...names.values()])]))
    .where('skills.state', '=', 'live')
    .where(offeredVersion)
    .execute()
}

/** How many skills a run may hide without a pause. */
async function readRemovalLimit(run: Run): Promise<number> {
  const { skills } = await selectMirroredSkills(run)
    .select((eb) => eb.fn.countAll<number>().as('skills'))
    .executeTakeFirstOrThrow()
  return Math.min(hiddenMax, Math.max(hiddenMin, Math.floor(Number(skills) / share)))
}

/**
 * Selects the skills imported from the upstream. Until the first sync has completed, its imports do not count, because
 * the log may remove them again.
 */
function selectMirroredSkills({ parts, upstream }: Run) {
  const query = parts.context.database.read.selectFrom('skills').where('skills.origin_upstream', '=', upstream.name)
  return upstream.syncedAt === null ? query.where('skills.origin_synced_at', '<', upstream.createdAt) : query
}

function toAlarm(hidden: number, limit: number): SyncAlarm {
  const sentence = `The sync would hide ${hidden} skills. More than ${limit} at once need your confirmation.`
  return new SyncAlarm('mass_removal', sentence)
}
