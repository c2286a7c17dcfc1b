import { type Security, type Skill, type SkillDetails, type SkillVersion, toTimestamp } from '@skillstead/protocol'
import { toAvatarUrl } from '../../kernel/avatar-url.ts'
import { EncodedJson } from '../../kernel/encoded-json.ts'
import { noRequires } from '@skillstead/skill-format'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import { parseJson, type SkillDocumentRow, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import { isOffered, toRecalledField } from './recalls.ts'
import { noEffect, type ShownEvaluations, toShownEvaluations } from './version-evaluations.ts'
import { readMetadataRequires } from './stored-requires.ts'
import { toFileRow, type FileRow, type ShownAccess, type VersionContent } from './stored-version.ts'

/** The columns of a version in a list. */
const listedColumns = [
  ...(['id', 'version', 'digest', 'size', 'changelog', 'portable', 'yanked', 'recalled_by'] as const),
  ...(['published_at', 'publisher_id', 'publisher', 'identity', 'evaluations'] as const),
] as const
export type ListedVersion = Pick<VersionRow, (typeof listedColumns)[number]>

/** The versions of a skill, highest first, without their metadata, which takes much space for a long history. */
export const selectListedVersions = compileQuery((db, param: Param<{ skillId: string }>) =>
  db.selectFrom('versions').select(listedColumns).where('skill_id', '=', param('skillId')).orderBy('sort_key', 'desc'),
)

/** As {@link selectListedVersions}, by the full name of the skill. */
export const selectNamedVersions = compileQuery((db, param: Param<{ fullName: string }>) =>
  db
    .selectFrom('versions')
    .select(listedColumns)
    .where('skill_id', '=', (eb) => eb.selectFrom('skills').select('id').where('full_name', '=', param('fullName')))
    .orderBy('sort_key', 'desc'),
)

/** The columns of a skill in a list. */
export const itemColumns = [
  ...([
    'num',
    'id',
    'name',
    'full_name',
    'holds_name',
    'description',
    'latest_version',
    'downloads',
    'stars',
    'security_score',
  ] as const),
  ...(['verified', 'deprecated', 'category', 'license', 'owner_id', 'owner', 'published_at'] as const),
  ...(['stub', 'effect_low'] as const),
] as const
export type ItemRow = Pick<SkillRow, (typeof itemColumns)[number]>

/** The latest version of a stub, which has no content. */
const stubVersion = '0.0.0'

/**
 * The name that resolves for everyone: the short name if the skill holds it, else the full name. For the owner of
 * another skill with the same short name, the short name means the owner's skill; see `showName`.
 */
export function toPublicName(skill: Pick<SkillRow, 'name' | 'full_name' | 'holds_name'>): string {
  return skill.holds_name === 1 ? skill.name : skill.full_name
}

/** A skill as a list item (docs/api.md#a-skill-in-a-list). */
export function toSkillItem(skill: ItemRow): Skill {
  const isStub = skill.stub === 1
  return {
    id: skill.id,
    name: toPublicName(skill),
    fullName: skill.full_name,
    description: skill.description,
    latestVersion: isStub ? stubVersion : skill.latest_version,
    downloads: skill.downloads,
    stars: skill.stars,
    securityScore: skill.security_score,
    verified: skill.verified === 1,
    deprecated: skill.deprecated === 1,
    category: skill.category,
    license: skill.license,
    author: { id: skill.owner_id, username: skill.owner, avatarUrl: toAvatarUrl(skill.owner) },
    publishedAt: toTimestamp(skill.published_at),
    ...(skill.effect_low !== noEffect && { effectLow: skill.effect_low }),
  }
}

/** The source of a fork that the reader may see. */
export type ForkedFrom = SkillDetails['forkedFrom']

type CountColumn = 'downloads' | 'stars' | 'forks' | 'dependents'

/** Fields added at read time: counters change too often to be stored, and not every reader may see `forkedFrom`. */
type SplicedField = CountColumn | 'forkedFrom'

/**
 * The version of the format of stored documents. Increase it with each change of {@link toSkillDocument}: documents
 * with another number are built again, in the background and when they are read.
 */
export const documentVersion = 4

/** The first characters of each stored document of the current format. */
const documentHead = `{"form":${documentVersion},`

/** The parts of the latest version that the details of a skill show. */
export type LatestVersion = { readonly row: ListedVersion; readonly uses: ShownAccess } & VersionContent

/** The public form of a skill without the fields that are added at read time, as it is stored. */
export function toSkillDocument(
  skill: SkillRow,
  latest: LatestVersion | undefined,
  versions: readonly ListedVersion[],
): string {
  const { downloads: _downloads, stars: _stars, ...item } = toSkillItem(skill)
  const document: Omit<SkillDetails, SplicedField> = {
    security: latest?.scan ? parseJson(latest.scan.report) : null,
    ...item,
    displayName: skill.display_name,
    keywords: parseJson(skill.keywords),
    ...toPublicVisibility(skill),
    stub: skill.stub === 1,
    deprecationMessage: skill.deprecation_message,
    repository: skill.repository,
    createdAt: toTimestamp(skill.created_at),
    updatedAt: toTimestamp(skill.updated_at),
    digest: latest?.row.digest ?? null,
    size: latest?.row.size ?? 0,
    files: [...(latest?.files ?? [])],
    versions: versions.map((version) => toVersionSummary(skill, version)),
    frontmatter: latest?.metadata.frontmatter ?? {},
    summary: skill.summary,
    contract: latest?.metadata.contract ?? null,
    capabilities: latest?.metadata.capabilities ?? [],
    requires: latest ? readMetadataRequires(latest.metadata) : noRequires,
    access: latest?.uses.access ?? null,
    widens: latest?.uses.widens ?? null,
    change: latest?.uses.change ?? null,
    opinion: latest?.uses.opinion ?? null,
    origin: toSkillOrigin(skill),
    ...(latest && toShownEvaluations(latest.row, versions.filter(isOffered))),
  }
  return JSON.stringify({ form: documentVersion, ...document })
}

/** Whether a stored document has the format of this release. */
export function hasCurrentForm(document: string): boolean {
  return document.startsWith(documentHead)
}

/** Where a skill was published: this node, another node or another registry. */
export function toSkillOrigin(skill: Pick<SkillRow, 'origin_kind' | 'origin_upstream' | 'origin_synced_at'>) {
  const syncedAt = skill.origin_synced_at === null ? null : toTimestamp(skill.origin_synced_at)
  return { kind: skill.origin_kind, upstream: skill.origin_upstream, syncedAt }
}

/**
 * The complete public form as JSON. The entity tag changes with any field; the id and the time distinguish it from the
 * entity tags of another skill that took over the name, and of a restored database.
 */
export function toSkillResponse(
  skill: Pick<SkillRow, 'id' | CountColumn>,
  { document, revision, updated_at }: Pick<SkillDocumentRow, 'document' | 'revision' | 'updated_at'>,
  forkedFrom: ForkedFrom,
): EncodedJson {
  const { id, downloads, stars, forks, dependents } = skill
  const added = JSON.stringify({ downloads, stars, forks, dependents, forkedFrom } satisfies Pick<
    SkillDetails,
    SplicedField
  >)
  // Joins texts, because parsing the document would cost more than all other steps of the response.
  const text = `${added.slice(0, -1)},${document.slice(documentHead.length)}`
  const tag = `"${id.slice(-12)}-${revision}-${updated_at.toString(36)}-${downloads}-${stars}-${forks}-${dependents}${forkedFrom ? '-f' : ''}-v${documentVersion}"`
  return new EncodedJson(text, tag)
}

/** The complete public form as a value. */
export function toSkillDetails(
  skill: Pick<SkillRow, CountColumn>,
  { document }: Pick<SkillDocumentRow, 'document'>,
  forkedFrom: ForkedFrom,
): SkillDetails {
  const { downloads, stars, forks, dependents } = skill
  const { form: _form, ...stored } = parseJson<{ form: number } & Omit<SkillDetails, SplicedField>>(document)
  return { downloads, stars, forks, dependents, forkedFrom, ...stored }
}

function toVersionSummary(skill: Pick<SkillRow, 'recalls'>, row: ListedVersion) {
  return {
    version: row.version,
    publishedAt: toTimestamp(row.published_at),
    digest: row.digest,
    changelog: row.changelog,
    yanked: row.yanked === 1,
    ...toRecalledField(skill, row),
  }
}

export function toSkillVersion(
  skill: Pick<SkillRow, 'recalls'>,
  row: VersionRow,
  files: readonly FileRow[],
  security: Security | null,
  { access, widens, change, opinion, evaluations }: ShownAccess & ShownEvaluations,
): SkillVersion {
  return {
    ...toVersionSummary(skill, row),
    size: row.size,
    files: files.map(toFileRow),
    portable: row.portable === 1,
    security,
    access,
    widens,
    change,
    opinion,
    publisher: { id: row.publisher_id, username: row.publisher },
    ...(row.identity !== null && { identity: parseJson(row.identity) }),
    ...(evaluations && { evaluations }),
  }
}

/** The visibility of a skill on the wire, where `internal` may name the organisation whose members alone see it. */
export function toPublicVisibility({ visibility, owner }: Pick<SkillRow, 'visibility' | 'owner'>) {
  return visibility === 'organisation' ? { visibility: 'internal' as const, organisation: owner } : { visibility }
}
