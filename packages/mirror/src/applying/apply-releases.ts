import { systemCaller } from '@skillstead/core'
import { compareVersions, isSkillName, isUsername, isVersion, nextPatch, reservedOwners } from '@skillstead/protocol'
import {
  applySettings,
  ensureNamespace,
  insertSkill,
  markSynced,
  refreshSkill,
  restoreSkill,
  selectListedVersions,
  storeLostBlobs,
  storeRecalls,
  storeVersion,
  updateVersion,
  type CatalogueContext,
  type ListedVersion,
  type SkillCause,
  type SkillRow,
  type SkillSettings,
  type StoredRecall,
  type UserRow,
  type WriteTransaction,
} from '@skillstead/core/internal'
import { toApplied } from './apply-changes.ts'
import { emitRecalls, type ReceivedRecalls, replaceRecalls } from './apply-recall.ts'
import { isEntryId } from './entry-data.ts'
import type { ApplyReleases, MirrorRelease, MirrorOutcome } from './mirrored-types.ts'
import { findPlace, findSkillRow, isVersionHere, refusePlace, type Refusal } from './place-skill.ts'
import { isRefusal } from './prepare-package.ts'
import { isStoredRelease, prepareReleases, type PreparedRelease } from './prepare-releases.ts'
import { toPublishedText } from './published-text.ts'
import { refuseScan } from './scan-refusal.ts'
import { writeInOrder } from './write-in-order.ts'

/**
 * Applies releases (versions of an upstream without a log) in order, each in its own transaction together with `also`.
 * Releases keep their version numbers. The full name identifies the skill, because such upstreams have no ids. A
 * refused release changes nothing; one that fails in the database is refused. After an error of `also` or another error
 * of the database, which is thrown, no later release is applied.
 */
export async function applyReleases(context: CatalogueContext, order: ApplyReleases): Promise<MirrorOutcome[]> {
  const { releases, also } = order
  const invalid = new Map(releases.map((release) => [release, refuseName(release)]))
  const readable = releases.filter((release) => !invalid.get(release))
  const found = await prepareReleases(context, readable)
  const prepared = new Map(readable.map((release, i) => [release, found[i]!]))
  return writeInOrder(context, releases, {
    async apply(trx, release) {
      const ready = invalid.get(release) ?? prepared.get(release)!
      return isRefusal(ready) ? ready : applyPrepared(context, trx, { order, release, ready })
    },
    also: async (trx, release, outcome) => also?.(trx, release, outcome),
    toSkippable: ({ owner, name, yanked, recalls = [] }) =>
      yanked || recalls.length > 0 ? undefined : `${owner}/${name}`,
  })
}

function refuseName({ owner, name, version }: MirrorRelease): Refusal | undefined {
  if (!isUsername(owner) || !isSkillName(name) || reservedOwners.has(owner)) {
    return refusePlace('malformed', `'${owner}/${name}' is not a valid name of a skill on this node.`)
  }
  if (version === undefined || isVersion(version)) return undefined
  return refusePlace(
    'malformed',
    `'${version}' is not a valid version of ${owner}/${name}. Versions have three numbers.`,
  )
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
): Promise<MirrorOutcome> {
  const { upstream, acceptsScan } = order
  const fullName = `${release.owner}/${release.name}`
  const wanted = { upstream, skillId: undefined, owner: release.owner, fullName }
  const { skill: before, stranger, refusal } = await findPlace(trx, wanted)
  if (refusal) {
    // The version was published here and sent to the upstream, or imported before its namespace was claimed.
    const version = { upstream, version: release.version, digest: ready.content.digest }
    return stranger && (await isVersionHere(trx, stranger, version)) ? { result: 'unchanged' } : refusal
  }
  const versions = before ? await selectListedVersions(trx, { skillId: before.id }) : []
  const same = versions.find((row) => isStoredRelease(row, { release, ...ready }))
  if (same && same.digest !== ready.content.digest) {
    return refusePlace(
      'version_exists',
      `${fullName}@${same.version} exists with other content, and a version never changes.`,
    )
  }
  if (!same && ready.inspection) {
    const reason = acceptsScan?.(release, ready.inspection.scan)
    if (reason !== undefined) return refusePlace('filtered', reason)
    const { content, inspection } = ready
    const { publishedAt = context.clock.now() } = release
    const compared = { content, number: toReleaseNumber(ready, versions), publishedAt, others: versions, inspection }
    const scanned = await refuseScan(context, trx, { ...compared, subject: fullName })
    if (scanned) return scanned
  }
  const received = replaceRecalls(before, release, context.clock.now())
  if (received === 'malformed')
    return refusePlace('malformed', `The recalls of ${fullName} at its source are not valid.`)
  // A withdrawn skill whose source shows it to its owner again became private. No log records this.
  const isRestored =
    before?.source_state === 'withdrawn' &&
    release.visibility === 'private' &&
    (await restoreSkill(trx, before.id, { visibility: 'private' }))
  if (same) await storeLostBlobs(context, trx, ready.content.blobs)
  if (same) return applySame(context, trx, { before: before!, same, release, isRestored, received })
  return applyNew(context, trx, { order, before, versions, release, ready, received })
}

interface SameRelease {
  readonly before: SkillRow
  readonly same: ListedVersion
  readonly release: MirrorRelease
  readonly isRestored: boolean
  readonly received: ReceivedRecalls | undefined
}

/** Applies a release of a stored version: updates `yanked` and, for the latest version, the settings of its skill. */
async function applySame(
  context: CatalogueContext,
  trx: WriteTransaction,
  { before, same, release, isRestored, received }: SameRelease,
): Promise<MirrorOutcome> {
  const at = context.clock.now()
  const isYank = release.yanked !== undefined && (await updateVersion(trx, same, { yanked: Number(release.yanked) }))
  // Only the latest version changes the settings: an older version would restore its old category, which the next sync
  // would change back.
  const isLatest = same.version === before.latest_version
  const isChanged = isLatest && (await applySettings(trx, before, toReleaseSettings(release)))
  if (!isYank && !isChanged && !isRestored && !received) return { result: 'unchanged' }
  if (received) await storeRecalls(trx, before.id, received.recalls)
  await markSynced(trx, before.id, at)
  const cause: SkillCause = isYank ? { type: 'yank', versionId: same.id } : { type: 'skill' }
  const change = { skillId: before.id, before, cause, at, mayClaimName: release.holder ?? true }
  const skill = await refreshSkill(context, trx, change)
  await emitRecalls(context, trx, skill, received)
  return toApplied(before, skill)
}

interface NewRelease extends Readable {
  readonly before: SkillRow | undefined
  readonly versions: readonly ListedVersion[]
  readonly received: ReceivedRecalls | undefined
}

async function applyNew(
  context: CatalogueContext,
  trx: WriteTransaction,
  { order, before, versions, release, received, ready: { fields, content, inspection } }: NewRelease,
): Promise<MirrorOutcome> {
  if (!inspection) {
    throw new Error(`${release.owner}/${release.name} disappeared from this node during the sync. Sync again.`)
  }
  const at = context.clock.now()
  const owner = await ensureNamespace(trx, release.owner, at)
  const [highest] = versions
  const number = toReleaseNumber({ fields }, versions)
  const isHighest = !highest || compareVersions(number, highest.version) > 0
  const settings = isHighest || !before ? toReleaseSettings(release) : {}
  const recalls = received?.recalls
  const skillId =
    before?.id ?? (await insertReleasedSkill(trx, { upstream: order.upstream, release, owner, settings, recalls, at }))
  if (before && recalls) await storeRecalls(trx, skillId, recalls)
  if (before) {
    await applySettings(trx, before, settings)
    await markSynced(trx, skillId, at)
  }
  const publication = {
    owner,
    publisher: release.publisher ?? owner,
    fields,
    content,
    inspection,
    settings,
    changelog: toPublishedText(release.changelog ?? '', 'changelog'),
    publishedAt: release.publishedAt,
    yanked: release.yanked,
  }
  const change = { skillId, before, at, mayClaimName: release.holder ?? true }
  const stored = await storeVersion(
    context,
    trx,
    {
      ...change,
      publication,
      number,
      // Read again if the recalls above changed, because they change the list.
      others: recalls ? await selectListedVersions(trx, { skillId }) : versions,
      ...(recalls && { recalls }),
    },
    systemCaller,
  )
  await emitRecalls(context, trx, stored.skill, received)
  return toApplied(before, stored.skill)
}

function toReleaseNumber({ fields }: Pick<PreparedRelease, 'fields'>, [highest]: readonly ListedVersion[]): string {
  return fields.version ?? (highest ? nextPatch(highest.version) : '1.0.0')
}

interface NewSkill {
  readonly upstream: string
  readonly release: MirrorRelease
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly settings: SkillSettings
  readonly recalls: readonly StoredRecall[] | undefined
  readonly at: number
}

async function insertReleasedSkill(
  trx: WriteTransaction,
  { upstream, release, owner, settings, recalls, at }: NewSkill,
): Promise<string> {
  const { skillId: id, name, publishedAt } = release
  const skillId = id !== undefined && isEntryId(id) && !(await findSkillRow(trx, id)) ? id : undefined
  const createdAt = publishedAt === undefined ? at : Math.min(at, publishedAt)
  return insertSkill(
    trx,
    { owner, fields: { name }, settings, recalls, mirrored: { upstream, skillId, createdAt } },
    at,
  )
}

function toReleaseSettings(release: MirrorRelease): SkillSettings {
  const { category, repository, deprecated, deprecationMessage, visibility } = release
  return {
    category: category && toPublishedText(category, 'category'),
    repository: repository && toPublishedText(repository, 'repository'),
    deprecated,
    deprecationMessage: deprecationMessage && toPublishedText(deprecationMessage, 'deprecationMessage'),
    visibility,
  }
}
