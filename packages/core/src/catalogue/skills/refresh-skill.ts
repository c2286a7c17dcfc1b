import type { Insertable, Updateable } from 'kysely'
import { toIndexText } from '../../search/index-text.ts'
import { findTerms } from '../../search/database/version-terms.ts'
import { toLoadedBy } from '../../search/loading-clients.ts'
import { compileForColumns } from '../../storage/compiled-query.ts'
import { putSkillText, removeSkillText } from '../../storage/text-search.ts'
import {
  parseJson,
  type SkillDocumentRow,
  type SkillRow,
  type Tables,
  type VersionMetadata,
} from '../../storage/tables.ts'
import type { WriteTransaction } from '../../storage/writer.ts'
import { appendChange, type ChangedSkill, type LogDraft } from '../../log/append-change.ts'
import { endAll } from '../../kernel/end-all.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import type { EmittedEvent, PublishedHere, SettingsChange } from '../context/ports.ts'
import { type ChangedRows, readChangedRows } from './changed-skill.ts'
import { joinStoredScan, scanMetadata } from '../inspecting/metadata-scan.ts'
import {
  type LatestVersion,
  type ListedVersion,
  selectListedVersions,
  toSkillDocument,
} from '../versions/skill-document.ts'
import { toEffectLow } from '../versions/version-evaluations.ts'
import type { StoredScan } from '../versions/inspection.ts'
import type { VersionContent } from '../versions/stored-version.ts'
import { toLogEntries, type SkillCause } from './skill-log.ts'
import type { VersionContents } from '../versions/version-files.ts'
import { readLatestVersion } from './build-document.ts'
import { readMetadataRequires } from '../versions/stored-requires.ts'
import { storeRequirements } from '../requires/requirement-rows.ts'
import { queueWithdrawal } from '../requires/withdrawals.ts'
import { readReaders } from '../../visibility/decisions.ts'
import { hourMs, minuteMs } from '../../kernel/clock.ts'

interface KnownVersion {
  readonly id: string
  readonly content: VersionContent
  /** All versions of the skill including the known version, highest first. */
  readonly versions: readonly ListedVersion[]
}

/** A change of a skill whose own rows are already written. */
export interface SkillChange {
  readonly skillId: string
  /** The row before the change; undefined for a new skill. */
  readonly before: SkillRow | undefined
  readonly cause: SkillCause
  /** Milliseconds since 1970. */
  readonly at: number
  /** A version that was just stored, so that the refresh does not read the version again. */
  readonly known?: KnownVersion
  /** The rows of the skill, if they are already read. */
  readonly read?: ChangedRows
  /** The entry of an upstream's log to relay instead of an entry of this node. */
  readonly relay?: LogDraft
  /** Who could see the skill before the change. Default: judged by `before` and the current collaborators. */
  readonly readersBefore?: string
  /** Whether the skill may claim its short name. Default: true, except for mirrored skills. */
  readonly mayClaimName?: boolean
  /** Makes the event for webhooks from the resulting row. */
  readonly toEvent?: (skill: SkillRow) => EmittedEvent<'skill.published'>
  /** What to send to the publisher's upstreams: the published version, or changed settings. */
  readonly upstreamWrite?:
    | ({ readonly type: 'version' } & Omit<PublishedHere, 'skill'>)
    | ({ readonly type: 'settings' } & Omit<SettingsChange, 'skill'>)
}

/**
 * The state of a change as it passes through the projections; each projection reads the results of the earlier
 * projections.
 */
interface ProjectedChange extends SkillChange {
  readonly context: RefreshContext
  readonly versions: readonly ListedVersion[]
  readonly contents: VersionContents
  readonly latest: LatestVersion | undefined
  readonly read: ChangedRows
  /** The row of the skill, which the projections change. */
  skill: SkillRow
  /** Whether the skill holds its short name. */
  readonly holder: boolean
  document?: SkillDocumentRow
  /** The scans of the latest version and of the metadata together. */
  scan?: StoredScan | undefined
}

/** Dependencies of a refresh. */
export type RefreshContext = Pick<
  CatalogueContext,
  'database' | 'scanRules' | 'reputation' | 'events' | 'outbox' | 'upstreamLogs' | 'upstreamQueue'
>

/**
 * Everything that follows from a change of a skill, in its transaction. The order is part of the meaning:
 * - the latest version first, whose metadata the row shows;
 * - the scans next, because they cover that metadata, and the log records their result;
 * - the log before the stored document, since appending gives the row its revision;
 * - the document and the search text from the final row;
 * - the requirements after the row, because they count dependents by the rows of skills;
 * - the other projections last and concurrently, because they use the final row: the reputation of the owner, webhooks
 *   and upstreams. Stars and reviews do not use projections: their functions emit the events.
 */
const projections: readonly ((trx: WriteTransaction, change: ProjectedChange) => Promise<void>)[] = [
  applyLatestVersion,
  applyScans,
  appendToLog,
  storeRow,
  storeDocument,
  indexSkillText,
  storeRequired,
  reportChange,
]

/** Runs the projections of a changed skill in the transaction of the change. Returns the resulting row. */
export async function refreshSkill(context: RefreshContext, trx: WriteTransaction, change: SkillChange) {
  return (await refreshWithDocument(context, trx, change)).skill
}

/** As {@link refreshSkill}; returns also the stored document. */
export async function refreshWithDocument(context: RefreshContext, trx: WriteTransaction, change: SkillChange) {
  const { skillId, known } = change
  const read = change.read ?? (await readChangedRows(trx, change))
  const { skill, isHolder } = read
  const contents: VersionContents = new Map(known && [[known.id, known.content]])
  const versions = known?.versions ?? (await selectListedVersions(trx, { skillId }))
  const latest = await readLatestVersion(trx, versions, contents)
  const projected: ProjectedChange = {
    ...change,
    context,
    versions,
    contents,
    latest,
    read,
    // The short name is already claimed; log entries name its holder.
    skill: { ...skill, holds_name: Number(isHolder) },
    holder: isHolder,
  }
  for (const project of projections) await project(trx, projected)
  return { skill: projected.skill, document: projected.document! }
}

/**
 * The row takes the metadata of a new latest version. A field that the owner updated since the previous version, for
 * example on the page of the skill, stays until a version changes this field. Mirrored skills take the metadata of
 * their upstream.
 */
async function applyLatestVersion(_trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { skill, latest } = change
  const columns = latest ? toVersionColumns(change, latest.row, latest.metadata) : { latest_version: '', portable: 0 }
  const loaded_by = latest ? toLoadedBy(latest.metadata.frontmatter, skill.name) : 0
  change.skill = { ...skill, ...columns, effect_low: toEffectLow(latest?.row), loaded_by }
}

function toVersionColumns(
  { skill, read: { describing } }: ProjectedChange,
  row: ListedVersion,
  metadata: VersionMetadata,
): Partial<SkillRow> {
  const columns = { latest_version: row.version, portable: row.portable, published_at: row.published_at }
  if (skill.described_by === row.version) return columns
  return {
    ...columns,
    described_by: row.version,
    ...toDescribingColumns(metadata, skill),
    ...(skill.origin_kind !== 'mirror' && keepUpdates(skill, describing, metadata)),
    headings: JSON.stringify(metadata.headings),
    summary: metadata.summary,
  }
}

/** The columns from a version's metadata. The category of the skill stays if the metadata has no category. */
function toDescribingColumns(metadata: VersionMetadata, skill: SkillRow) {
  const { displayName, description, license, keywords, category = skill.category } = metadata
  return { display_name: displayName, description, license, category, keywords: JSON.stringify(keywords) }
}

/** The columns that the owner updated since the describing version and that the new version did not change. */
function keepUpdates(skill: SkillRow, describing: string | null, metadata: VersionMetadata): Partial<SkillRow> {
  if (describing === null) return {}
  const said = toDescribingColumns(parseJson<VersionMetadata>(describing), skill)
  const says = toDescribingColumns(metadata, skill)
  const names = ['display_name', 'description', 'license', 'category', 'keywords'] as const
  return Object.fromEntries(
    names.filter((name) => said[name] === says[name] && skill[name] !== said[name]).map((name) => [name, skill[name]]),
  )
}

/** Computes the security score and `verified` from the scans of the latest version and of the metadata. */
async function applyScans(_trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { context, skill, latest, at, read } = change
  const { changelog = '' } = latest?.row ?? {}
  const metadata_scan = await scanMetadata(context, skill.metadata_scan, skill, { changelog, at })
  change.scan = latest?.scan && joinStoredScan(latest.scan, metadata_scan)
  const verified = change.scan?.verdict === 'safe' && read.isVerified
  change.skill = { ...skill, security_score: change.scan?.score ?? null, metadata_scan, verified: Number(verified) }
}

/** Appends to the change sequence and, as far as everyone may see the change, to the public log. */
async function appendToLog(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { context, skill, cause, at, relay, read } = change
  const entries = await toLogEntries(trx, context.upstreamLogs, change, relay)
  const changed = await toChangedSkill(trx, change)
  const revision = await appendChange(trx, { kind: 'skill', subject: skill.id, at, entries, skill: changed }, read.head)
  change.skill = { ...skill, revision, updated_at: isJudgement(cause) ? skill.updated_at : at }
}

/** Whether a change is a score, a verification or an evaluation, which do not count as updates of the skill. */
function isJudgement({ type }: SkillCause): boolean {
  return type === 'judgement' || type === 'evaluation'
}

async function toChangedSkill(trx: WriteTransaction, change: ProjectedChange): Promise<ChangedSkill> {
  const { before, cause, versions } = change
  const published = cause.type === 'version' ? versions.find(({ id }) => id === cause.versionId) : undefined
  return {
    name_before: before?.full_name ?? '',
    readers_before: before ? (change.readersBefore ?? (await readReaders(trx, before))) : '',
    version: published?.version ?? '',
  }
}

async function storeRow(trx: WriteTransaction, { skill, skillId }: ProjectedChange): Promise<void> {
  const { num: _num, owner_id: _ownerId, name: _name, full_name: _fullName, listed: _listed, ...columns } = skill
  await updateSkillRow(trx, { ...columns, id: skillId })
}

async function storeDocument(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { skill, latest, scan, versions } = change
  change.document = toDocumentRow(skill, toSkillDocument(skill, latest && { ...latest, scan }, versions))
  await putDocument(trx, change.document)
}

function toDocumentRow({ id, revision, updated_at }: SkillRow, document: string) {
  return { skill_id: id, revision, updated_at, document }
}

/** Stores columns and a document that were computed again from other rows: a repair, not a change of the skill. */
export async function storeComputed(
  trx: WriteTransaction,
  skill: SkillRow,
  { columns, document }: { columns: Partial<SkillRow>; document: string },
): Promise<void> {
  await updateSkillRow(trx, { ...columns, id: skill.id })
  await putDocument(trx, toDocumentRow(skill, document))
}

/** Updates the full-text index if a column changed that the index contains. */
async function indexSkillText(trx: WriteTransaction, { context, before, skill, latest }: ProjectedChange) {
  const { dialect } = context.database
  if (skill.state === 'withdrawn') return removeSkillText(trx, dialect, skill.num)
  if (before && textColumns.every((column) => before[column] === skill[column])) return
  const makeText = async () => {
    const terms = latest && (latest.terms ?? (await findTerms(trx, latest.row.id)))
    const [keywords, headings] = [parseJson(skill.keywords), parseJson(skill.headings)]
    return toIndexText({ ...skill, displayName: skill.display_name, keywords, headings }, terms)
  }
  await putSkillText(trx, dialect, skill.num, makeText, { isNew: !before })
}

async function storeRequired(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { before, skill, latest, at } = change
  const { hasRequirements, isNamed } = change.read
  const requires = latest && readMetadataRequires(latest.metadata)
  await storeRequirements(trx, { before, skill, requires, hasRequirements, isNamed, at })
}

async function reportChange(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { context, skill, toEvent } = change
  await endAll([
    context.reputation.changeStanding(trx, change),
    toEvent && context.events.emit(trx, toEvent(skill)),
    queueForUpstream(trx, change),
    reportWithdrawal(trx, change),
  ])
}

/** Queues notices to the owners of skills that require versions which were yanked or recalled. */
async function reportWithdrawal(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { context, skill, cause, versions } = change
  const withdrawn = versions.filter(({ id, yanked, recalled_by }) => {
    if (cause.type === 'recall') return recalled_by === cause.recall.id
    return cause.type === 'yank' && id === cause.versionId && yanked === 1
  })
  if (withdrawn.length === 0) return
  const reason = cause.type === 'recall' ? 'recalled' : 'yanked'
  await queueWithdrawal(context, trx, { skill, versions: withdrawn.map(({ version }) => version), reason })
}

async function queueForUpstream(trx: WriteTransaction, change: ProjectedChange): Promise<void> {
  const { context, skill, upstreamWrite: write } = change
  if (write?.type === 'version') await context.upstreamQueue.queuePublish(trx, { ...write, skill })
  if (write?.type === 'settings') await context.upstreamQueue.queueSettings(trx, { ...write, skill })
}

const textColumns = [
  'latest_version',
  'name',
  'owner',
  'display_name',
  'keywords',
  'description',
  'headings',
  'summary',
  'category',
  'state',
] as const

const updateSkillRow = compileForColumns((db, { id, ...columns }: Updateable<Tables['skills']> & { id: string }) =>
  db.updateTable('skills').set(columns).where('id', '=', id),
)
const putDocument = compileForColumns((db, row: Insertable<Tables['skill_documents']>) =>
  db
    .insertInto('skill_documents')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('skill_id').doUpdateSet(({ ref }) => ({
        revision: ref('excluded.revision'),
        updated_at: ref('excluded.updated_at'),
        document: ref('excluded.document'),
      })),
    ),
)

const verifiedSkillsTopic = 'verification.skills'
const verifiedRetryDelaysMs = [minuteMs, 10 * minuteMs, hourMs]
/** Skills per transaction; no other write runs during a transaction. */
const verifiedSkillsPerWrite = 25

/** Handles outbox jobs that refresh the skills of an author after the first batch of {@link refreshVerifiedSkills}. */
export function handleVerifiedSkills(context: CatalogueContext): void {
  context.outbox.handle(verifiedSkillsTopic, {
    retryDelaysMs: verifiedRetryDelaysMs,
    handle: ({ userId, after }) =>
      context.database.writer.write((trx) => refreshVerifiedSkills(context, trx, String(userId), String(after))),
  })
}

/** Updates `verified` on an author's skills: the first batch at once, the rest through the outbox. */
export async function refreshVerifiedSkills(
  context: CatalogueContext,
  trx: WriteTransaction,
  userId: string,
  after = '',
): Promise<void> {
  const skills = await trx
    .selectFrom('skills')
    .selectAll()
    .where('owner_id', '=', userId)
    .where('state', '!=', 'withdrawn')
    .where('latest_version', '!=', '')
    .where('id', '>', after)
    .orderBy('id')
    .limit(verifiedSkillsPerWrite)
    .execute()
  const at = context.clock.now()
  for (const before of skills)
    await refreshSkill(context, trx, { skillId: before.id, before, cause: { type: 'judgement' }, at })
  if (skills.length < verifiedSkillsPerWrite) return
  await context.outbox.enqueue(trx, { topic: verifiedSkillsTopic, payload: { userId, after: skills.at(-1)!.id } })
}
