import { compareVersions, toVersionSortKey, type EventData, type Security, type Warning } from '@skillstead/protocol'
import { showAccessAmong, type ShownAccess } from './stored-access.ts'
import { recordAudit } from '../log/audit.ts'
import { putBlobs } from '../storage/blobs.ts'
import type { Caller } from '../kernel/caller.ts'
import type { CatalogueContext } from './catalogue-context.ts'
import { joinScans, requireMetadata } from './metadata-scan.ts'
import { toAction, toScanRefusal, toScanWarnings } from './scan-policy.ts'
import { keepInsert } from '../storage/compiled-query.ts'
import type { SkillRow, UserRow, VersionRow } from '../storage/tables.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { chooseVersion } from './choose-version.ts'
import { newId } from '../kernel/ids.ts'
import { recordInspection, type Inspection } from './inspection.ts'
import { withoutNul, type PackageFields } from './package-fields.ts'
import { refreshSkill, type SkillChange } from './refresh-skill.ts'
import { findTarget, insertSkill } from './skill-rows.ts'
import { requireStorage } from './storage-quota.ts'
import { applySettings, type SkillSettings } from './skill-settings.ts'
import { toName, type ListedVersion } from './skill-document.ts'
import type { PackedContent } from './skill-package.ts'

/** Everything about a version that is about to be stored, checked already. */
export interface Publication {
  readonly owner: Pick<UserRow, 'id' | 'username'>
  readonly publisher: Pick<UserRow, 'id' | 'username'>
  readonly fields: PackageFields
  readonly content: PackedContent
  /** Left out only where the very content is known to be there already. */
  readonly inspection?: Inspection | undefined
  readonly settings: SkillSettings
  readonly changelog: string
  /** Milliseconds since 1970; now where it is not said. */
  readonly publishedAt?: number
  readonly forkedFrom?: { readonly fullName: string; readonly version: string } | undefined
  /** Taken back already where it comes from. */
  readonly yanked?: boolean | undefined
  /** Part of a history that is imported: its number counts only where it is higher than what is there. */
  readonly imported?: boolean
  /** An administrator looked at it: the policy on scans has nothing more to say. */
  readonly released?: boolean
}

export interface Published {
  readonly skill: SkillRow
  readonly version: VersionRow
  readonly created: boolean
  readonly warnings: readonly Warning[]
  /** Those of the version, where it was just made. */
  readonly scan?: Security
  /** The scan of the version and of the metadata together, by which the policy judged it. */
  readonly judged?: Security
  readonly uses?: ShownAccess
}

/**
 * Thrown out of a transaction to undo it: the policy on scans has the version wait for an administrator. `published` is
 * what would have come of it.
 */
export class Quarantined extends Error {
  readonly published: Published

  constructor(published: Published) {
    super('The policy on scans holds this version back.')
    this.published = published
  }
}

/**
 * Stores a version within a transaction: the skill where it is new, the version where its content is, and what the
 * request says of the skill in any case. Throws `version_exists`, `name_taken` and `taken_down`, `invalid_skill` where
 * the policy on scans refuses the version, or metadata that comes with an older one, {@link Quarantined} where it has to wait.
 */
export async function publishVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  publication: Publication,
  caller: Caller,
): Promise<Published> {
  const { fields, settings, inspection } = publication
  const { warnings } = fields
  const known = inspection ? [...warnings, ...toScanWarnings(inspection.scan)] : warnings
  const now = context.clock.now()
  const before = await findTarget(trx, `${publication.owner.username}/${fields.name}`)
  const choice = await chooseVersion(trx, before, publication)
  // Part of a history that is here already says nothing new: an old one would bring back its old category, and the
  // next take it away again, a change of the log each time.
  if (choice.existing && publication.imported) {
    return { skill: before!, version: choice.existing, created: false, warnings: known }
  }
  const skillId = before?.id ?? (await insertSkill(trx, publication, now))
  const changed = before !== undefined && (await applySettings(trx, before, settings))
  const change = { skillId, before, at: now }

  if (choice.existing) {
    const skill = changed ? await refreshSkill(context, trx, { ...change, cause: { type: 'skill' } }) : before!
    const userId = publication.publisher.id
    if (changed) await context.upstreamQueue.queueSettings(trx, { before, skill, userId, settings })
    const told = changed ? await requireMetadata(context, trx, { before, after: skill }) : []
    return { skill, version: choice.existing, created: false, warnings: [...known, ...told] }
  }
  const { imported, released, owner } = publication
  if (!imported && !released) {
    await requireStorage(context, trx, owner, { name: 'this version', bytes: publication.content.size })
  }
  if (!inspection) throw new TypeError('Content that is not there yet is inspected before it is published.')
  if (before?.stub)
    await trx
      .updateTable('skills')
      .set({ stub: 0, origin_kind: publication.imported ? 'import' : 'local' })
      .where('id', '=', skillId)
      .execute()
  const inspected = { ...publication, inspection }
  const stored = await storeVersion(context, trx, {
    ...change,
    publication: inspected,
    number: choice.number,
    others: choice.versions,
  })
  const { scan } = inspection
  const isLatest = stored.skill.latest_version === stored.version.version
  const judged = isLatest ? joinScans(scan, stored.skill.metadata_scan) : scan
  const inMetadata =
    changed && !isLatest && !released ? await requireMetadata(context, trx, { before, after: stored.skill }) : []
  const told = [...warnings, ...toScanWarnings(judged), ...inMetadata]
  const published = { ...stored, created: true, warnings: told, scan, judged }
  const action = released ? 'warn' : toAction(context.scanPolicy, judged)
  if (action === 'refuse') throw toScanRefusal(judged)
  if (action === 'quarantine') throw new Quarantined(published)
  await announceVersion(context, trx, stored, { publication: inspected, caller })
  const { publisher, forkedFrom } = publication
  if (!imported)
    await context.upstreamQueue.queuePublish(trx, { ...stored, userId: publisher.id, settings, forkedFrom })
  return published
}

/** A publication that was looked at. */
type Inspected = Publication & { readonly inspection: Inspection }

/** A version that is to be stored, of a skill whose row is there. */
export interface NewVersion extends Pick<SkillChange, 'skillId' | 'before' | 'at' | 'relay' | 'mayHold'> {
  readonly publication: Inspected
  readonly number: string
  /** The versions that are there, highest first. */
  readonly others: readonly ListedVersion[]
}

/** What came of it. */
export interface StoredVersion {
  readonly skill: SkillRow
  readonly version: VersionRow
  readonly uses: ShownAccess
}

/** Stores a version under a number that is free, with its content and what was found in it, and refreshes its skill. */
export async function storeVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { publication, number, others, ...change }: NewVersion,
): Promise<StoredVersion> {
  const { skillId, before, at } = change
  const { inspection } = publication
  const version = await insertVersion(trx, skillId, number, publication, at)
  const recorded = await recordInspection(trx, context.copies, { skillId, versionId: version.id, inspection, at })
  // The first version widens nothing.
  const lower = others.findIndex((other) => compareVersions(other.version, version.version) < 0)
  const versions = others.toSpliced(lower === -1 ? others.length : lower, 0, version)
  const uses = before
    ? (await showAccessAmong(trx, versions, [version.id])).get(version.id)!
    : { access: inspection.access, widens: null }
  const content = { metadata: publication.fields.metadata, files: publication.content.files, uses, ...recorded }
  const skill = await refreshSkill(context, trx, {
    ...change,
    cause: { type: 'version', versionId: version.id },
    known: { id: version.id, content, versions },
  })
  return { skill, version, uses }
}

/** Writes a version that was stored into the audit, and tells those who wait for it. */
export async function announceVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { skill, version, uses }: StoredVersion,
  { publication, caller }: { publication: Inspected; caller: Caller },
): Promise<void> {
  await recordAudit(trx, {
    caller,
    action: 'skill.publish',
    subject: `${skill.full_name}@${version.version}`,
    at: context.clock.now(),
    data: { digest: version.digest },
  })
  const data = async () => toEventData(skill, version, publication, uses)
  await context.events.emit(trx, { event: 'skill.published', skill, data })
}

function toEventData(
  skill: SkillRow,
  { version }: VersionRow,
  { fields, inspection, publisher }: Inspected,
  { widens }: ShownAccess,
): EventData<'skill.published'> {
  const { id, full_name: fullName, latest_version, security_score } = skill
  const { description } = fields.metadata
  const securityScore = version === latest_version ? security_score : null
  return {
    skill: {
      id,
      name: toName(skill),
      fullName,
      version,
      description,
      securityScore: securityScore ?? inspection.scan.score,
    },
    publisher: { id: publisher.id, username: publisher.username },
    ...(widens && { widens }),
  }
}

async function insertVersion(
  trx: WriteTransaction,
  skillId: string,
  number: string,
  publication: Publication,
  now: number,
): Promise<VersionRow> {
  const { content, fields, publisher, changelog, publishedAt, yanked = false } = publication
  const version: VersionRow = {
    id: newId(),
    skill_id: skillId,
    version: number,
    sort_key: toVersionSortKey(number),
    digest: content.digest,
    size: content.size,
    changelog: withoutNul(changelog),
    portable: fields.portable ? 1 : 0,
    yanked: Number(yanked),
    published_at: publishedAt ?? now,
    publisher_id: publisher.id,
    publisher: publisher.username,
    metadata: JSON.stringify(fields.metadata),
  }
  await putBlobs(trx, content.blobs)
  await insertRow(trx, version)
  await insertFiles(trx, ...content.files.map((file) => ({ version_id: version.id, ...file })))
  return version
}

const insertRow = keepInsert('versions')
const insertFiles = keepInsert('version_files')
