import { showAccessAmong } from './stored-access.ts'
import { changeStanding } from '../community/skill-credit.ts'
import { toIndexText } from '../search/tokenize.ts'
import { keepCompiled, keepForColumns } from '../storage/compiled-query.ts'
import type { Dialect } from '../storage/database.ts'
import type { SkillRow } from '../storage/tables.ts'
import { putSkillText, removeSkillText } from '../storage/text-search.ts'
import type { WriteTransaction } from '../storage/writer.ts'
import { appendChange, type LogDraft } from '../log/append-change.ts'
import { addFirstOrigins } from '../upstreams/first-origins.ts'
import { joinStored, scanMetadata } from './metadata-scan.ts'
import { findScan } from './stored-scans.ts'
import { isVerifiedAuthor } from '../accounts/verified-author.ts'
import { readFiles } from './version-files.ts'
import { findSource } from './show-details.ts'
import {
  selectVersions,
  toDocument,
  type ListedVersion,
  type VersionContent,
  type VersionMetadata,
} from './skill-document.ts'
import {
  isPublicMatter,
  toSkillEntry,
  toTakedownEntry,
  toVersionEntry,
  toWithdrawnEntry,
  toYankEntry,
} from './skill-log.ts'

/** What was done to a skill, so that the public log can tell it. */
export type SkillDeed =
  | { readonly type: 'version' | 'yank'; readonly versionId: string }
  | { readonly type: 'skill' }
  /** What is thought of it changed, and nothing in it did. */
  | { readonly type: 'judgement' }

interface KnownVersion {
  readonly id: string
  readonly content: VersionContent
  /** All versions, with this one, highest first. */
  readonly versions: readonly ListedVersion[]
}

export interface SkillChange {
  readonly dialect: Dialect
  readonly skillId: string
  /** The row as it was; undefined for a new skill. */
  readonly before: SkillRow | undefined
  readonly deed: SkillDeed
  readonly at: number
  /** What need not be read again of a version that was just stored, and of its skill. */
  readonly known?: KnownVersion
  /** What an upstream's log said of it, which this one says on: in place of an entry of its own. */
  readonly relay?: LogDraft
  /** Whether the skill may become the holder of its short name; a mirrored one only where its source says so. */
  readonly mayHold?: boolean
}

/**
 * Everything that follows from a change of a skill, in the transaction of the change: its latest version and what that
 * says, its public form, its short name, its words in the full-text index, the change sequence and the public log.
 * Returns the row as it is now.
 */
export async function refreshSkill(
  trx: WriteTransaction,
  { dialect, skillId, before, deed, at, known, relay, mayHold }: SkillChange,
): Promise<SkillRow> {
  const contents: Contents = new Map(known && [[known.id, known.content]])
  const [stored] = await selectSkill(trx, skillId)
  if (!stored) throw new TypeError('A skill is refreshed after its row was stored.')
  const versions = known?.versions ?? (await selectVersions(trx, skillId))
  const latestRow = versions.find((version) => version.yanked === 0)
  const latest = latestRow && (await readLatest(trx, latestRow, versions, contents))
  const described = latest
    ? applyLatest(stored, latest.row, latest.metadata)
    : { ...stored, latest_version: '', portable: 0 }
  const judgement = await judge(trx, described, { latest, at })
  const skill = { ...described, ...judgement.columns }
  const holder = await claimShortName(trx, before, skill, mayHold ?? skill.origin_kind !== 'mirror')
  const happening = { before, skill, versions, contents, deed, holder }
  const entries = relay ? toRelayed(happening, relay) : await toOwnEntries(trx, happening)
  const revision = await appendChange(trx, { kind: 'skill', subject: skill.id, at, entries })
  const row = { ...skill, updated_at: deed.type === 'judgement' ? stored.updated_at : at, revision }
  const { num: _num, id: _id, owner_id: _ownerId, name: _name, full_name: _fullName, ...columns } = row
  await updateSkill(trx, columns, skillId)
  const document = toDocument(row, latest && { ...latest, scan: judgement.scan }, versions)
  await putDocument(trx, { skill_id: row.id, revision, updated_at: row.updated_at, document })
  await indexText(trx, dialect, before, row)
  await changeStanding(trx, before, row, at)
  return row
}

const selectSkill = keepCompiled((db) => db.selectFrom('skills').selectAll().where('id', '=', ''))
const updateSkill = keepForColumns((db, places) => db.updateTable('skills').set(places).where('id', '=', ''))
const putDocument = keepForColumns((db, places) =>
  db
    .insertInto('skill_documents')
    .values(places as never)
    .onConflict((conflict) =>
      conflict.column('skill_id').doUpdateSet(({ ref }) => ({
        revision: ref('excluded.revision'),
        updated_at: ref('excluded.updated_at'),
        document: ref('excluded.document'),
      })),
    ),
)

async function readContent(trx: WriteTransaction, versionId: string, contents: Contents): Promise<VersionContent> {
  const read = contents.get(versionId)
  if (read) return read
  const row = await trx.selectFrom('versions').select('metadata').where('id', '=', versionId).executeTakeFirstOrThrow()
  const content = {
    metadata: JSON.parse(row.metadata) as VersionMetadata,
    files: await readFiles(trx, versionId),
    scan: await findScan(trx, versionId),
  }
  contents.set(versionId, content)
  return content
}

async function readLatest(
  trx: WriteTransaction,
  row: ListedVersion,
  versions: readonly ListedVersion[],
  contents: Contents,
) {
  const content = await readContent(trx, row.id, contents)
  const uses = content.uses ?? (await showAccessAmong(trx, versions, [row.id])).get(row.id)!
  return { row, ...content, uses }
}

/** The log stays for ever and everyone reads it: it tells of a fork's source only what is public. */
async function isSourceShown(trx: WriteTransaction, skill: SkillRow): Promise<boolean> {
  if (skill.forked_from === null) return true
  const source = await findSource(trx, skill.forked_from)
  return source !== undefined && isPublicMatter(source)
}

/**
 * A new latest version speaks for the skill. While no other does, what its owner set since stands, also where it is
 * yanked and taken back.
 */
function applyLatest(stored: SkillRow, row: ListedVersion, metadata: VersionMetadata): SkillRow {
  const skill = { ...stored, latest_version: row.version, portable: row.portable, published_at: row.published_at }
  if (skill.described_by === row.version) return skill
  return {
    ...skill,
    described_by: row.version,
    category: metadata.category ?? skill.category,
    display_name: metadata.displayName,
    description: metadata.description,
    license: metadata.license,
    keywords: JSON.stringify(metadata.keywords),
    headings: JSON.stringify(metadata.headings),
    summary: metadata.summary,
  }
}

/** What the scan of its latest version, that of its metadata, and the standing of its owner say of a skill. */
async function judge(
  trx: WriteTransaction,
  skill: SkillRow,
  { latest, at }: { latest: Awaited<ReturnType<typeof readLatest>> | undefined; at: number },
) {
  const { changelog = '' } = latest?.row ?? {}
  const metadata_scan = await scanMetadata(skill.metadata_scan, skill, { changelog, at })
  const scan = latest?.scan && joinStored(latest.scan, metadata_scan)
  const verified = scan?.verdict === 'safe' && (await isVerifiedAuthor(trx, skill.owner_id))
  return { scan, columns: { security_score: scan?.score ?? null, metadata_scan, verified: Number(verified) } }
}

/** The first public skill of a short name holds it for ever. Tells whether this skill is the holder. */
async function claimShortName(
  trx: WriteTransaction,
  before: SkillRow | undefined,
  skill: SkillRow,
  mayHold: boolean,
): Promise<boolean> {
  if (mayHold && isPublicMatter(skill) && !(before && isPublicMatter(before))) {
    await claimName(trx, skill.name, skill.id)
  }
  const [holder] = await selectHolder(trx, skill.name)
  return holder?.skill_id === skill.id
}

const claimName = keepCompiled((db) =>
  db
    .insertInto('holders')
    .values({ name: '', skill_id: '' })
    .onConflict((conflict) => conflict.column('name').doNothing()),
)
const selectHolder = keepCompiled((db) => db.selectFrom('holders').select('skill_id').where('name', '=', ''))

/** What was read of versions, by their ids. */
type Contents = Map<string, VersionContent>

interface Happening {
  readonly before: SkillRow | undefined
  readonly skill: SkillRow
  readonly versions: readonly ListedVersion[]
  readonly contents: Contents
  readonly deed: SkillDeed
  readonly holder: boolean
}

/**
 * An entry of an upstream's log as this log says it. Removals are said on in any case; what would bring something into
 * public sight that was hidden here is not.
 */
function toRelayed({ before, skill, holder }: Happening, relay: LogDraft): LogDraft[] {
  if (relay.type === 'withdrawn' || relay.type === 'takedown') return [relay]
  if (!isPublicMatter(skill)) return []
  const moved = before && isPublicMatter(before) && before.full_name !== skill.full_name
  const data = 'holder' in relay.data ? { ...relay.data, holder } : relay.data
  return [...(moved ? [toWithdrawnEntry(before)] : []), { ...relay, data }]
}

async function toOwnEntries(trx: WriteTransaction, happening: Happening): Promise<LogDraft[]> {
  const { skill } = happening
  const source = (await isSourceShown(trx, skill)) ? {} : { forked_from: null, forked_from_version: null }
  const entries = await toEntries(trx, { ...happening, skill: { ...skill, ...source } })
  return skill.origin_kind === 'mirror' ? addFirstOrigins(trx, skill, entries) : entries
}

async function toEntries(trx: WriteTransaction, happening: Happening): Promise<LogDraft[]> {
  const { before, skill, versions, contents, deed, holder } = happening
  const was = before !== undefined && isPublicMatter(before)
  const is = isPublicMatter(skill)
  if (!was && !is) return []
  if (was && !is) return [skill.state === 'taken_down' ? toTakedownEntry(before) : toWithdrawnEntry(before)]
  if (was && before.full_name !== skill.full_name) {
    return [toWithdrawnEntry(before), ...(await toAllEntries(trx, happening))]
  }
  if (!was) return toAllEntries(trx, happening)
  if (deed.type === 'skill' || deed.type === 'judgement')
    return sameInPublic(before, skill) ? [] : [toSkillEntry(skill, holder)]
  const version = versions.find(({ id }) => id === deed.versionId)!
  if (deed.type === 'yank') {
    const yank = toYankEntry(skill, version)
    // Another version speaks for the skill now, and a mirror need not guess what it says.
    return sameInPublic({ ...before, latest_version: skill.latest_version }, skill)
      ? [yank]
      : [yank, toSkillEntry(skill, holder)]
  }
  return [toVersionEntry(skill, version, await readContent(trx, version.id, contents), holder)]
}

/** Who else may read or write is nobody's matter, and makes no entry. */
function sameInPublic(before: SkillRow, skill: SkillRow): boolean {
  return JSON.stringify(toSkillEntry(before, true)) === JSON.stringify(toSkillEntry(skill, true))
}

/** A skill that comes into public sight brings its whole history along, oldest first. */
async function toAllEntries(
  trx: WriteTransaction,
  { skill, versions, contents, deed, holder }: Happening,
): Promise<LogDraft[]> {
  const entries: LogDraft[] = []
  for (const version of versions.toReversed()) {
    entries.push(toVersionEntry(skill, version, await readContent(trx, version.id, contents), holder))
  }
  // The entry of a first version says everything; what was set since needs an entry of its own.
  const isFirst = deed.type === 'version' && versions.length === 1
  return isFirst ? entries : [...entries, toSkillEntry(skill, holder)]
}

async function indexText(trx: WriteTransaction, dialect: Dialect, before: SkillRow | undefined, skill: SkillRow) {
  if (skill.state === 'withdrawn') return removeSkillText(trx, skill.num, dialect)
  if (before && textColumns.every((column) => before[column] === skill[column])) return
  const document = {
    ...skill,
    displayName: skill.display_name,
    keywords: JSON.parse(skill.keywords) as string[],
    headings: JSON.parse(skill.headings) as string[],
  }
  await putSkillText(trx, dialect, skill.num, toIndexText(document), { isNew: !before })
}

const textColumns = [
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
