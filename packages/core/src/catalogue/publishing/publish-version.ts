import {
  compareFiles,
  compareVersions,
  type EventData,
  type Policy,
  RegistryError,
  type Security,
  toVersionSortKey,
  type Warning,
} from '@skillstead/protocol'
import type { Caller } from '../../kernel/caller.ts'
import { endAll } from '../../kernel/end-all.ts'
import { invalidField, invalidFields } from '../../kernel/field-errors.ts'
import { newId } from '../../kernel/ids.ts'
import { recordAudit } from '../../log/audit.ts'
import { putBlobs } from '../../storage/blobs.ts'
import { toMoveRule } from '../../storage/move-blobs.ts'
import { compileInsert } from '../../storage/compiled-query.ts'
import type { SkillRow, VersionMetadata, VersionRow } from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { PolicyJudgement } from '../context/ports.ts'
import { readChangedRows } from '../skills/changed-skill.ts'
import { moveBlobsJob, storeLostBlobs } from './move-blobs-job.ts'
import { chooseVersion } from './choose-version.ts'
import type { Publication, Published } from './publication.ts'
import { type Inspection, recordInspection } from '../versions/inspection.ts'
import { joinScans, requireMetadata } from '../inspecting/metadata-scan.ts'
import { withoutNul } from '../versions/package-fields.ts'
import { refreshWithDocument, refreshSkill, type SkillChange } from '../skills/refresh-skill.ts'
import { toPolicyAction, toAdviceWarnings, toPolicyRefusal, toScanWarnings } from '../context/scan-policy.ts'
import { type ListedVersion, selectNamedVersions, toPublicName } from '../versions/skill-document.ts'
import { applySettings, findPublishTarget, insertSkill } from '../skills/skill-rows.ts'
import { findQuotaExcess } from '../skills/storage-quota.ts'
import { compareNew } from '../versions/version-changes.ts'
import { findCoveringRecall, readActiveRecalls, type StoredRecall, toRecalledField } from '../versions/recalls.ts'
import { toStoredRequires } from '../versions/stored-requires.ts'
import type { ShownAccess } from '../versions/stored-version.ts'

/**
 * Stores a version within a transaction: creates the skill if it is new and the version if its content is new, and
 * applies the request's settings in any case. If the result is `quarantinedFor` a reason, the caller must roll back.
 * Throws `version_exists`, `name_taken`, `taken_down`, and `invalid_skill` if the scan policy or a rule refuses the
 * version, or the settings in a request with an older version.
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
  const fullName = `${publication.owner.username}/${fields.name}`
  const [before, listed, excess, policy] = await Promise.all([
    findPublishTarget(trx, fullName),
    selectNamedVersions(trx, { fullName }),
    findOwnExcess(context, trx, publication),
    context.policies.read(trx, { full_name: fullName, owner_id: publication.owner.id }),
  ])
  const choice = await chooseVersion(trx, before, listed, publication)
  if (choice.existing) await storeLostBlobs(context, trx, publication.content.blobs)
  // Importing a stored version again changes nothing: otherwise each old version would set the skill's category
  // again, with a log entry each time.
  if (choice.existing && publication.imported) {
    return { ...storedBefore, skill: before!, version: choice.existing, warnings: known }
  }
  const { publishedAt = now, yanked } = publication
  const latest = choice.existing || yanked ? undefined : { version: choice.number, publishedAt }
  const skillId = before?.id ?? (await insertSkill(trx, { ...publication, latest }, now))
  const changed = before !== undefined && (await applySettings(trx, before, settings))
  const change = { skillId, before, at: now }

  if (choice.existing) {
    const unchanged = { ...storedBefore, skill: before!, version: choice.existing, warnings: known }
    return changed ? refreshUnchanged(context, trx, unchanged, publication) : unchanged
  }
  const { imported, released } = publication
  if (excess) throw excess
  refuseRecalledContent(fullName, choice.versions, publication)
  if (!inspection) throw new TypeError('The content is new, so its inspection must be passed: see `inspectPackage`.')
  if (before?.stub) await endStub(trx, skillId, imported ? 'import' : 'local')
  const inspected = { ...publication, inspection }
  const added = { ...change, publication: inspected, number: choice.number, others: choice.versions }
  const [read, inserted] = await endAll([readChangedRows(trx, added), insertVersion(context, trx, added)])
  const published = toVersionChange(added, inserted, { isForUpstreams: !imported })
  const refreshed = await refreshWithDocument(context, trx, { ...published, read })
  const { version, uses } = inserted
  const { skill } = refreshed

  const { scan } = inspection
  const isLatest = skill.latest_version === version.version
  const judged = isLatest ? joinScans(scan, skill.metadata_scan) : scan
  const inMetadata =
    changed && !isLatest && !released ? await requireMetadata(context, trx, { before, after: skill }) : []
  const kept = isLatest && !imported ? warnOfKept(skill, publication.fields.metadata) : []
  const allWarnings = [
    ...warnings,
    ...kept,
    ...toScanWarnings(judged),
    ...toAdviceWarnings(uses),
    ...inMetadata,
    ...warnOfRecall(skill, version),
  ]
  const files = publication.content.files.toSorted(compareFiles)
  const action = released?.includes('policy') ? 'warn' : toPolicyAction(context.scanPolicy, judged, uses)
  if (action === 'refuse') throw toPolicyRefusal(context.scanPolicy, judged, uses)
  const isWaiting =
    !imported &&
    (await judgeVersion(context, trx, publication, {
      before,
      isFirst: choice.versions.length === 0,
      skill,
      uses,
      judged,
      policy,
    }))
  const quarantinedFor = action === 'quarantine' ? 'policy' : isWaiting ? 'approval' : undefined
  if (!quarantinedFor) await recordPublish(context, trx, { skill, version }, caller)
  return { ...refreshed, files, version, uses, warnings: allWarnings, scan, judged, created: true, quarantinedFor }
}

/** Refreshes a skill whose settings changed with a version that is stored already. Throws like {@link requireSettings}. */
async function refreshUnchanged(
  context: CatalogueContext,
  trx: WriteTransaction,
  unchanged: Published,
  { publisher, settings }: Publication,
): Promise<Published> {
  const { skill: before, warnings } = unchanged
  const skill = await refreshSkill(context, trx, {
    skillId: before.id,
    before,
    at: context.clock.now(),
    cause: { type: 'skill' },
    upstreamWrite: { type: 'settings', before, userId: publisher.id, settings },
  })
  const fromMetadata = await requireSettings(context, trx, { before, after: skill }, publisher)
  return { ...unchanged, skill, warnings: [...warnings, ...fromMetadata] }
}

/** Whether a version waits for reviewers. Throws `invalid_skill` if the version breaks a rule of the policy. */
async function judgeVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { publisher, content, released }: Publication,
  { before, isFirst, skill, uses, judged, policy }: NewJudged,
): Promise<boolean> {
  const widens = isFirst || uses.widens !== null
  const version = { size: content.size, verdict: judged.verdict, access: uses.access, widens }
  const judgement = await context.policies.judge(trx, policy, { skill, before, publisherId: publisher.id, version })
  refuseBroken(judgement)
  return judgement.approvals > 0 && !released?.includes('approval')
}

interface NewJudged extends Pick<StoredVersion, 'skill' | 'uses'> {
  readonly before: SkillRow | undefined
  readonly isFirst: boolean
  readonly judged: Pick<Security, 'verdict'>
  readonly policy: Policy
}

/**
 * The warnings about settings that changed without a version. Throws `invalid_skill` if the scan policy or a rule
 * refuses the settings, and for a changed description while versions need approval, since agents read descriptions.
 */
export async function requireSettings(
  context: CatalogueContext,
  trx: WriteTransaction,
  { before, after }: { before: SkillRow; after: SkillRow },
  publisher: Publication['publisher'],
): Promise<Warning[]> {
  const policy = await context.policies.read(trx, after)
  const judgement = await context.policies.judge(trx, policy, { skill: after, before, publisherId: publisher.id })
  refuseBroken(judgement)
  if (judgement.approvals > 0 && after.description !== before.description)
    throw invalidField(
      'description',
      'is read by agents, so a change needs the approval of reviewers. Publish a version to change it',
    )
  return requireMetadata(context, trx, { before, after })
}

function refuseBroken({ refusals }: PolicyJudgement): void {
  if (refusals.length > 0) throw invalidFields('invalid_skill', refusals)
}

/** Refuses the content of a recalled version under another version number, which the recall may not cover. */
function refuseRecalledContent(
  fullName: string,
  versions: readonly ListedVersion[],
  { content: { digest } }: Publication,
): void {
  const same = versions.find((version) => version.digest === digest && version.recalled_by !== null)
  if (!same) return
  throw new RegistryError(
    'conflict',
    `${fullName}@${same.version} has the same content and was recalled. Change the content, or end the recall.`,
  )
}

/** Warns that an active recall covers the published version, which is therefore not offered. */
function warnOfRecall(skill: SkillRow, version: VersionRow): Warning[] {
  const { recalled } = toRecalledField(skill, version)
  if (!recalled) return []
  const message =
    `An active recall of ${recalled.range} covers version ${version.version} (${recalled.reason}), so clients refuse it. ` +
    'Publish a version outside that range, or end the recall.'
  return [{ code: 'recalled', message }]
}

/** Warns that the skill keeps metadata that its owner changed earlier, instead of the new version's metadata. */
function warnOfKept(skill: SkillRow, says: VersionMetadata): Warning[] {
  const names = [
    says.description !== skill.description && 'description',
    says.displayName !== skill.display_name && 'display name',
    says.license !== skill.license && 'licence',
    (says.category ?? skill.category) !== skill.category && 'category',
    JSON.stringify(says.keywords) !== skill.keywords && 'keywords',
  ].filter((name) => name !== false)
  if (names.length === 0) return []
  const message =
    `The skill still shows the ${names.join(', ')} that you changed after an earlier publish, not what this version ` +
    'says. Change it again if it is out of date: `skillstead describe`, or the page of the skill.'
  return [{ code: 'metadata_kept', message }]
}

/** The parts of the outcome for a version that is already stored. */
const storedBefore = { created: false }

/** A publication with its inspection. */
type Inspected = Publication & { readonly inspection: Inspection }

/** A version to store for a skill whose row exists. */
interface NewVersion extends Pick<SkillChange, 'skillId' | 'before' | 'at' | 'relay' | 'mayClaimName'> {
  readonly publication: Inspected
  readonly number: string
  /** The existing versions, highest first. */
  readonly others: readonly ListedVersion[]
  /** The recalls of the skill. Default: the recalls of `before`, the row before the change. */
  readonly recalls?: readonly StoredRecall[]
}

/** A version that was just stored, its skill and its access. */
interface StoredVersion {
  readonly skill: SkillRow
  readonly version: VersionRow
  readonly uses: ShownAccess
}

/** Stores a version under an unused version number, refreshes its skill and records the publish in the audit log. */
export async function storeVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  added: NewVersion,
  caller: Caller,
): Promise<StoredVersion> {
  const [read, inserted] = await endAll([readChangedRows(trx, added), insertVersion(context, trx, added)])
  const skill = await refreshSkill(context, trx, { ...toVersionChange(added, inserted), read })
  const stored = { skill, version: inserted.version, uses: inserted.uses }
  await recordPublish(context, trx, stored, caller)
  return stored
}

/** The error for a version that exceeds the storage quota of its owner. Imports and released versions have no quota. */
async function findOwnExcess(
  context: CatalogueContext,
  trx: WriteTransaction,
  { imported, released, owner, content }: Publication,
) {
  if (imported || released) return undefined
  return findQuotaExcess(context, trx, owner, { name: 'this version', bytes: content.size })
}

/** The change of a skill by an inserted version, with the event and, if `isForUpstreams`, the write to upstreams. */
function toVersionChange(
  { publication, number: _number, others: _others, recalls: _recalls, ...change }: NewVersion,
  { version, uses, known }: Awaited<ReturnType<typeof insertVersion>>,
  { isForUpstreams = false } = {},
): SkillChange {
  const { publisher, settings, forkedFrom } = publication
  return {
    ...change,
    cause: { type: 'version', versionId: version.id },
    known,
    toEvent: (skill) => ({
      event: 'skill.published',
      skill,
      data: () => toPublishedData(skill, version, publication, uses),
    }),
    ...(isForUpstreams && {
      upstreamWrite: { type: 'version', userId: publisher.id, settings, version, forkedFrom },
    }),
  }
}

async function recordPublish(
  { clock }: Pick<CatalogueContext, 'clock'>,
  trx: WriteTransaction,
  { skill, version }: Pick<StoredVersion, 'skill' | 'version'>,
  caller: Caller,
): Promise<void> {
  await recordAudit(trx, {
    caller,
    action: 'skill.publish',
    subject: `${skill.full_name}@${version.version}`,
    at: clock.now(),
    data: { digest: version.digest },
  })
}

function toPublishedData(
  skill: SkillRow,
  { version }: VersionRow,
  { fields, inspection, publisher }: Inspected,
  { widens }: ShownAccess,
): EventData<'skill.published'> {
  const { id, full_name: fullName, latest_version, security_score } = skill
  const isLatest = version === latest_version
  const { description } = isLatest ? skill : fields.metadata
  const securityScore = isLatest ? security_score : null
  return {
    skill: {
      id,
      name: toPublicName(skill),
      fullName,
      version,
      description,
      securityScore: securityScore ?? inspection.scan.score,
    },
    publisher: { id: publisher.id, username: publisher.username },
    ...(widens && { widens }),
  }
}

/**
 * Inserts the rows of a version, its content and its inspection. Returns also the values that {@link refreshSkill}
 * needs.
 */
async function insertVersion(
  context: CatalogueContext,
  trx: WriteTransaction,
  { skillId, before, at, publication, number, others, recalls }: NewVersion,
) {
  const active = recalls?.filter(({ endedAt }) => endedAt === undefined) ?? (before ? readActiveRecalls(before) : [])
  const { content, fields, inspection, publisher, identity, changelog, publishedAt, yanked = false } = publication
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
    published_at: publishedAt ?? at,
    publisher_id: publisher.id,
    publisher: publisher.username,
    metadata: JSON.stringify(fields.metadata),
    identity: identity ? JSON.stringify(identity) : null,
    recalled_by: findCoveringRecall(active, number),
    evaluations: null,
    requires: toStoredRequires(fields.requires),
  }
  const isMoved = toMoveRule(context.database, content.files)
  await putBlobs(trx, content.blobs, isMoved)
  if (content.blobs.some(isMoved)) await context.outbox.enqueue(trx, moveBlobsJob)
  await insertVersionRow(trx, version)
  await insertVersionFiles(
    trx,
    ...content.files.map((file) => ({ version_id: version.id, ...file, executable: Number(file.executable ?? 0) })),
  )
  const recorded = await recordInspection(trx, context.copies, { skillId, versionId: version.id, inspection })
  const lower = others.findIndex((other) => compareVersions(other.version, version.version) < 0)
  const versions = others.toSpliced(lower === -1 ? others.length : lower, 0, version)
  const compared = { number, publishedAt: version.published_at, digest: content.digest, inspection }
  const uses = await compareNew(trx, others, compared)
  const { terms } = inspection
  const shown = { metadata: fields.metadata, files: content.files, uses, terms, ...recorded }
  return { version, uses, known: { id: version.id, content: shown, versions } }
}

/** Turns a stub into a skill that has versions. */
async function endStub(trx: WriteTransaction, skillId: string, origin_kind: 'import' | 'local'): Promise<void> {
  await trx.updateTable('skills').set({ stub: 0, origin_kind }).where('id', '=', skillId).execute()
}

const insertVersionRow = compileInsert('versions')
const insertVersionFiles = compileInsert('version_files')
