import { setImmediate } from 'node:timers/promises'
import { type Access, type Change, compareVersions, type Opinion, type Security } from '@skillstead/protocol'
import { assessChange, findWidening, readOutline, toUnreadOutline, type Outline } from '@skillstead/scanner'
import type { Kysely } from 'kysely'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import { parseJson, type Tables, type VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { type Inspection, unreadAccess } from './inspection.ts'
import { isOffered } from './recalls.ts'
import type { ShownAccess } from './stored-version.ts'
import { readPackageFiles } from './version-files.ts'

/** A version with the facts needed to compare it with the other versions of its skill. */
type ListedVersion = Pick<VersionRow, 'id' | 'version' | 'yanked' | 'recalled_by' | 'published_at'>

/** A version that is not stored yet. */
interface NewVersion {
  readonly number: string
  /** Milliseconds since 1970. */
  readonly publishedAt: number
  readonly digest: string
  readonly inspection: Inspection
}

/** The known facts about a version's content. The outline and the scan are missing until a rescan. */
interface VersionFacts {
  readonly access: Access
  readonly scan?: Security | undefined
  readonly outline?: Outline | undefined
  readonly opinion?: Opinion | null
}

/**
 * The baseline of a version: the highest lower version that is offered, so that no author can hide a change by
 * publishing, yanking and publishing again. If no lower version is offered, the baseline is the lowest version, which
 * users trusted first. A lower version that was published after a higher version is out of order and counts only if
 * there is no other lower version. Without a lower version, the baseline is the lowest version that was published
 * earlier. `versions` are all versions of the skill, highest first.
 */
export function findBaseline<V extends ListedVersion>(
  versions: readonly V[],
  { version: number, published_at }: Pick<V, 'version' | 'published_at'>,
): V | undefined {
  const lower = versions.filter(({ version }) => compareVersions(version, number) < 0)
  const inOrder: V[] = []
  for (const one of lower) if (one.published_at <= (inOrder.at(-1)?.published_at ?? published_at)) inOrder.push(one)
  const candidates = inOrder.length > 0 ? inOrder : lower
  return (
    candidates.find(isOffered) ??
    candidates.at(-1) ??
    versions.findLast((one) => one.version !== number && one.published_at < published_at)
  )
}

/** The public form of the access and the changes of a version. */
export async function showAccess(db: Kysely<Tables>, { id, skill_id }: { id: string; skill_id: string }) {
  return (await showAccessOfMany(db, skill_id, [id])).get(id)!
}

/** As {@link showAccess} for many versions of one skill, by their ids, with two queries. */
export async function showAccessOfMany(db: Kysely<Tables>, skillId: string, ids: readonly string[]) {
  return showAccessAmong(db, await selectComparable(db, { skillId }), ids)
}

/** As {@link showAccessOfMany}, given all versions of the skill, highest first. */
export async function showAccessAmong(db: Kysely<Tables>, versions: readonly ListedVersion[], ids: readonly string[]) {
  const wanted = new Set(ids)
  const pairs = versions
    .filter(({ id }) => wanted.has(id))
    .map((version) => ({ version, earlier: findBaseline(versions, version) }))
  const rows = await readFactsRows(
    db,
    pairs.flatMap(({ version, earlier }) => [version.id, ...(earlier ? [earlier.id] : [])]),
  )
  const shown = new Map<string, ShownAccess>()
  for (const { version, earlier } of pairs) {
    // A comparison takes milliseconds. The first comparison does not yield: a single one runs in the transaction of a
    // write, which must not wait.
    if (shown.size > 0) await setImmediate()
    const own = { version: version.version, ...toVersionFacts(rows.get(version.id)) }
    const compared = earlier && { version: earlier.version, ...toVersionFacts(rows.get(earlier.id)) }
    shown.set(version.id, compared ? compareAccess(compared, own) : toUncomparedAccess(own))
  }
  return shown
}

/**
 * As {@link showAccess} for a version that is not stored yet; `others` are the versions of its skill, highest first.
 * Reads the files of the baseline if its outline is not stored.
 */
export async function compareNew(
  trx: WriteTransaction,
  others: readonly ListedVersion[],
  { number, publishedAt, digest, inspection }: NewVersion,
): Promise<ShownAccess> {
  const { access, outline, scan } = inspection
  const earlier = findBaseline(others, { version: number, published_at: publishedAt })
  const [[given], rows] = await Promise.all([
    selectOpinion(trx, { digest }),
    earlier ? selectPair(trx, { one: earlier.id, other: earlier.id }) : [],
  ])
  const own = { access, outline, scan, ...(given && { opinion: parseJson(given.opinion) }) }
  if (!earlier) return toUncomparedAccess(own)
  const facts = toVersionFacts(rows[0])
  const read = facts.outline ?? (await readStoredOutline(trx, earlier.id))
  return compareAccess({ version: earlier.version, ...facts, outline: read }, { version: number, ...own })
}

/**
 * The outline of a stored version; an unread outline if a file is missing or in a bucket. A missing blob must not block
 * the publish of later versions, and a transaction does not wait for a bucket.
 */
async function readStoredOutline(trx: WriteTransaction, versionId: string): Promise<Outline> {
  const files = await readPackageFiles({ read: trx }, versionId).catch(() => undefined)
  return files ? readOutline(files) : toUnreadOutline(versionId)
}

/** The verdict on the difference between any two versions; null until a rescan has read both. */
export async function showChange(
  db: Kysely<Tables>,
  { from, to }: Record<'from' | 'to', { readonly id: string; readonly version: string }>,
): Promise<Change | null> {
  const rows = await readFactsRows(db, [from.id, to.id])
  const [earlier, later] = [from, to].map(({ id, version }) => ({ version, ...toVersionFacts(rows.get(id)) }))
  return assessVersionChange(earlier!, later!)
}

type Numbered = VersionFacts & { readonly version: string }

function compareAccess(earlier: Numbered, later: Numbered): ShownAccess {
  return {
    ...toUncomparedAccess(later),
    widens: findWidening(earlier, later),
    change: assessVersionChange(earlier, later),
  }
}

/** The public form for a version without a baseline. */
function toUncomparedAccess({ access, opinion = null }: VersionFacts): ShownAccess {
  return { access, widens: null, change: null, opinion }
}

/** Findings of different rules are not compared: findings of new rules would look like changes until a rescan. */
function assessVersionChange(earlier: Numbered, later: Numbered): Change | null {
  if (!earlier.scan || !earlier.outline || !later.scan || !later.outline) return null
  const hasFindings = earlier.scan.rulesVersion === later.scan.rulesVersion
  const [before, after] = [
    { ...earlier, outline: earlier.outline, findings: hasFindings ? earlier.scan.findings : [] },
    { ...later, outline: later.outline, findings: hasFindings ? later.scan.findings : [] },
  ]
  return assessChange(before, after)
}

type FactsRow = Awaited<ReturnType<typeof selectFacts>>[number]

async function readFactsRows(db: Kysely<Tables>, ids: readonly string[]): Promise<Map<string, FactsRow>> {
  if (ids.length === 0) return new Map()
  const rows = ids.length <= 2 ? await selectPair(db, { one: ids[0]!, other: ids.at(-1)! }) : await selectFacts(db, ids)
  return new Map(rows.map((row) => [row.version_id, row]))
}

function toVersionFacts(row: FactsRow | undefined): VersionFacts {
  if (!row) return { access: unreadAccess }
  const { access, outline, report, opinion, quarantined } = row
  return {
    access: parseJson(access),
    ...(outline !== null && { outline: toShownOutline(parseJson(outline), quarantined !== null) }),
    ...(opinion !== null && { opinion: parseJson(opinion) }),
    ...(report !== null && { scan: parseJson(report) }),
  }
}

/** A comparison quotes restrictions that the later version removed. The text of a quarantined version is not shown. */
function toShownOutline(outline: Outline, isQuarantined: boolean): Outline {
  return isQuarantined ? { ...outline, safeguards: [] } : outline
}

const selectPair = compileQuery((db, param: Param<{ one: string; other: string }>) =>
  selectFactsRows(db).where('version_access.version_id', 'in', [param('one'), param('other')]),
)

function selectFacts(db: Kysely<Tables>, ids: readonly string[]) {
  return selectFactsRows(db)
    .where('version_access.version_id', 'in', [...new Set(ids)])
    .execute()
}

function selectFactsRows(db: Kysely<Tables>) {
  return db
    .selectFrom('version_access')
    .innerJoin('versions', 'versions.id', 'version_access.version_id')
    .leftJoin('scans', 'scans.version_id', 'version_access.version_id')
    .leftJoin('opinions', 'opinions.digest', 'versions.digest')
    .leftJoin('quarantined_versions', 'quarantined_versions.version_id', 'version_access.version_id')
    .select(['version_access.version_id', 'access', 'outline', 'report', 'opinion'])
    .select('quarantined_versions.version_id as quarantined')
}

const selectOpinion = compileQuery((db, param: Param<{ digest: string }>) =>
  db.selectFrom('opinions').select('opinion').where('digest', '=', param('digest')),
)

const selectComparable = compileQuery((db, param: Param<{ skillId: string }>) =>
  db
    .selectFrom('versions')
    .select(['id', 'version', 'yanked', 'recalled_by', 'published_at'])
    .where('skill_id', '=', param('skillId'))
    .orderBy('sort_key', 'desc'),
)
