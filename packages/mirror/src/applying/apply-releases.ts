import { compareVersions, isSkillName, isUsername, isVersion, nextPatch, reservedOwners } from '@skillstead/protocol'
import { systemCaller } from '@skillstead/core'
import {
  announceVersion,
  applySettings,
  type CatalogueContext,
  ensureNamespace,
  findState,
  insertSkill,
  isPublicMatter,
  type ListedVersion,
  refreshSkill,
  selectVersions,
  type SkillCause,
  type SkillRow,
  type SkillSettings,
  storeVersion,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { refuseScan } from './apply-version.ts'
import { isFreeId } from './mirrored-ids.ts'
import { findPlace, refuse, type Refusal } from './place-skill.ts'
import { isRefusal } from './prepare-versions.ts'
import { isSame, prepareReleases, type PreparedRelease } from './prepare-releases.ts'
import { toPublishedText } from './published-text.ts'
import type { ApplyReleases, MirrorRelease, ReleaseOutcome } from './mirrored-types.ts'
import { writeInOrder } from './write-in-order.ts'
import { isVersionHere } from './written-here.ts'

/**
 * Applies versions of a registry that has no log, in order: each in a write of its own together with `also`, under the
 * numbers that they have there. A skill is known by its full name. What is refused leaves everything as it was. Throws
 * what `also` throws, and what keeps the node from writing; the releases after that one are not applied.
 */
export async function applyReleases(context: CatalogueContext, order: ApplyReleases): Promise<ReleaseOutcome[]> {
  const { releases, also } = order
  const named = new Map(releases.map((release) => [release, refuseName(release)]))
  const readable = releases.filter((release) => !named.get(release))
  const found = await prepareReleases(context, readable)
  const prepared = new Map(readable.map((release, i) => [release, found[i]!]))
  return writeInOrder(context, releases, async (trx, release) => {
    const ready = named.get(release) ?? prepared.get(release)!
    const outcome = isRefusal(ready) ? ready : await applyPrepared(context, trx, { order, release, ready })
    await also?.(trx, release, outcome)
    return outcome
  })
}

function refuseName({ owner, name, version }: MirrorRelease): Refusal | undefined {
  const isMeant = isUsername(owner) && isSkillName(name) && !reservedOwners.has(owner)
  if (!isMeant) return refuse('malformed', `'${owner}/${name}' is no name that a skill can have on this node.`)
  if (version === undefined || isVersion(version)) return undefined
  return refuse('malformed', `'${version}' is no version of ${owner}/${name}; three numbers are needed.`)
}

interface Readable {
  readonly order: ApplyReleases
  readonly release: MirrorRelease
  readonly ready: PreparedRelease
}

async function applyPrepared(
  context: CatalogueContext,
  trx: WriteTransaction,
  { order, release, ready }: Readable,
): Promise<ReleaseOutcome> {
  const { upstream } = order
  const fullName = `${release.owner}/${release.name}`
  const wanted = { upstream, skillId: undefined, owner: release.owner, fullName }
  const { skill: before, stranger, refusal } = await findPlace(trx, wanted)
  if (refusal) {
    // Published here, and there from here; or it came from there before its namespace was claimed.
    const version = { upstream, version: release.version, digest: ready.content.digest }
    return stranger && (await isVersionHere(trx, stranger, version)) ? { result: 'unchanged' } : refusal
  }
  const versions = before ? await selectVersions(trx, { skillId: before.id }) : []
  const same = versions.find((row) => isSame(row, { release, ...ready }))
  if (same && same.digest !== ready.content.digest) {
    return refuse(
      'version_exists',
      `${fullName}@${same.version} is here with other content, and a version never changes.`,
    )
  }
  const scanned = same ? undefined : refuseFound(context, order, release, ready)
  if (scanned) return scanned
  const isBack = before !== undefined && (await goOnPrivate(trx, before, release))
  if (same) return applySame(context, trx, { before: before!, same, release, isBack })
  return applyNew(context, trx, { order, before, versions, release, ready })
}

function refuseFound(
  context: CatalogueContext,
  { acceptsScan }: ApplyReleases,
  release: MirrorRelease,
  { inspection }: PreparedRelease,
): ReleaseOutcome | undefined {
  const fullName = `${release.owner}/${release.name}`
  if (!inspection) return undefined
  const reason = acceptsScan?.(release, inspection.scan)
  return reason === undefined ? refuseScan(context, inspection, fullName) : refuse('filtered', reason)
}

/** One that its source withdrew and shows to its owner is private since: so it is here, and no log tells of it. */
async function goOnPrivate(trx: WriteTransaction, before: SkillRow, { visibility }: MirrorRelease): Promise<boolean> {
  if (visibility !== 'private' || before.source_state !== 'withdrawn') return false
  await trx.updateTable('skills').set({ source_state: 'live', visibility }).where('id', '=', before.id).execute()
  const state = await findState(trx, before.id)
  await trx.updateTable('skills').set({ state }).where('id', '=', before.id).execute()
  return true
}

/** What is said anew of a version that is here: whether it is yanked, and of the latest one what is said of the skill. */
async function applySame(
  context: CatalogueContext,
  trx: WriteTransaction,
  { before, same, release, isBack }: { before: SkillRow; same: ListedVersion; release: MirrorRelease; isBack: boolean },
): Promise<ReleaseOutcome> {
  const at = context.clock.now()
  const yanked = release.yanked === undefined ? same.yanked : Number(release.yanked)
  const isYank = yanked !== same.yanked
  if (isYank) await trx.updateTable('versions').set({ yanked }).where('id', '=', same.id).execute()
  // An old one would bring back its old category, and the next take it away again.
  const isLatest = same.version === before.latest_version
  const isChanged = isLatest && (await applySettings(trx, before, toSettings(release)))
  if (!isYank && !isChanged && !isBack) return { result: 'unchanged' }
  await trx.updateTable('skills').set({ origin_synced_at: at }).where('id', '=', before.id).execute()
  const cause: SkillCause = isYank ? { type: 'yank', versionId: same.id } : { type: 'skill' }
  const change = {
    skillId: before.id,
    before,
    cause,
    at,
    mayHold: release.holder ?? true,
  }
  const skill = await refreshSkill(context, trx, change)
  return { result: 'applied', fullName: skill.full_name, hid: isShown(before) && !isShown(skill) }
}

interface NewRelease extends Readable {
  readonly before: SkillRow | undefined
  readonly versions: readonly ListedVersion[]
}

async function applyNew(
  context: CatalogueContext,
  trx: WriteTransaction,
  { order, before, versions, release, ready }: NewRelease,
): Promise<ReleaseOutcome> {
  const { inspection } = ready
  if (!inspection) throw new Error(`${release.owner}/${release.name} was here a moment ago. Sync again.`)
  const at = context.clock.now()
  const owner = await ensureNamespace(trx, release.owner, at)
  const [highest] = versions
  const number = ready.fields.version ?? (highest ? nextPatch(highest.version) : '1.0.0')
  const isHighest = !highest || compareVersions(number, highest.version) > 0
  const settings = isHighest || !before ? toSettings(release) : {}
  const skillId = before?.id ?? (await insertRow(trx, { order, release, owner, settings, at }))
  if (before) await applySettings(trx, before, settings)
  if (before) await trx.updateTable('skills').set({ origin_synced_at: at }).where('id', '=', skillId).execute()
  const publication = {
    owner,
    publisher: release.publisher ?? owner,
    fields: ready.fields,
    content: ready.content,
    inspection,
    settings,
    changelog: toPublishedText(release.changelog ?? '', 'changelog'),
    publishedAt: release.publishedAt,
    yanked: release.yanked,
  }
  const change = { skillId, before, at, mayHold: release.holder ?? true }
  const stored = await storeVersion(context, trx, { ...change, publication, number, others: versions })
  await announceVersion(context, trx, stored, { publication, caller: systemCaller })
  const { skill } = stored
  return {
    result: 'applied',
    fullName: skill.full_name,
    hid: before !== undefined && isShown(before) && !isShown(skill),
  }
}

interface NewRow {
  readonly order: ApplyReleases
  readonly release: MirrorRelease
  readonly owner: { readonly id: string; readonly username: string }
  readonly settings: SkillSettings
  readonly at: number
}

async function insertRow(trx: WriteTransaction, { order, release, owner, settings, at }: NewRow): Promise<string> {
  const { skillId, name, publishedAt } = release
  const isFree = skillId !== undefined && (await isFreeId(trx, skillId))
  const createdAt = publishedAt === undefined ? at : Math.min(at, publishedAt)
  const mirrored = { upstream: order.upstream, skillId: isFree ? skillId : undefined, createdAt }
  return insertSkill(trx, { owner, fields: { name }, settings, mirrored }, at)
}

function toSettings(release: MirrorRelease): SkillSettings {
  const { category, repository, deprecated, deprecationMessage, visibility } = release
  return {
    category: category && toPublishedText(category, 'category'),
    repository: repository && toPublishedText(repository, 'repository'),
    deprecated,
    deprecationMessage: deprecationMessage && toPublishedText(deprecationMessage, 'deprecationMessage'),
    visibility,
  }
}

function isShown(skill: SkillRow): boolean {
  return isPublicMatter(skill) && skill.latest_version !== ''
}
