import { RegistryError, type SkillDetails, toTimestamp } from '@skillstead/protocol'
import { readScan, readScansOfMany } from '../versions/inspection.ts'
import { showAccess, showAccessOfMany } from '../versions/version-changes.ts'
import { writeZip } from '@skillstead/skill-format/archives'
import type { StorageContext } from '../../storage/storage-context.ts'
import { getBlob } from '../../storage/read-blobs.ts'
import { type Caller, callerId, seesPublicOnly } from '../../kernel/caller.ts'
import type { CallOptions } from '../../kernel/call-options.ts'
import type { CatalogueContext } from '../context/catalogue-context.ts'
import { toMirrored } from '../context/use-counts.ts'
import { EncodedJson } from '../../kernel/encoded-json.ts'
import { joinScans } from '../inspecting/metadata-scan.ts'
import { parseJson, type SkillRow, type VersionRow } from '../../storage/tables.ts'
import {
  readFileRows,
  readFileRowsOfMany,
  readPackageFiles,
  refuseQuarantined,
  toContentType,
} from '../versions/version-files.ts'
import { toCurrentDocument } from './build-document.ts'
import { findSkill, findSkillBy, getSkill, requireFound } from './find-skill.ts'
import { findForkedFrom, readSkillDocument, showDetails } from './show-details.ts'
import { showName } from '../versions/shown-names.ts'
import { refuseRecalled, toRecalledField } from '../versions/recalls.ts'
import { readShownEvaluations } from '../versions/version-evaluations.ts'
import { readStoredRequires } from '../versions/stored-requires.ts'
import { toSkillResponse, toPublicName, toSkillVersion } from '../versions/skill-document.ts'
import { isOwner } from '../../visibility/rights.ts'
import type { Operation } from '../../kernel/operation-input.ts'
import { readPage } from '../../storage/read-page.ts'

/** GET /skills/<name>: the details, as JSON that is cached until the skill changes. */
export async function showSkill(
  context: CatalogueContext,
  { name, version }: { name: string; version?: string },
  caller: Caller,
  { cacheKey }: CallOptions = {},
): Promise<EncodedJson | SkillDetails> {
  const isForAll = seesPublicOnly(caller)
  const cached = isForAll && version === undefined && cacheKey === undefined ? context.answers.get(name) : undefined
  if (cached) return cached
  const position = context.changes.position
  if (version !== undefined)
    return showSkillAtVersion(context, requireFound(await findSkill(context, name, caller), name), version, caller)
  const skill = requireFound(await findSkillBy(context.findDocumented, context, name, caller), name)
  const { read } = context.database
  const document =
    'document' in skill
      ? {
          document: await toCurrentDocument(read, skill.id, skill.document),
          revision: skill.document_revision,
          updated_at: skill.documented_at,
        }
      : await readSkillDocument(read, skill.id)
  if ((await showName(context, skill, caller)) !== toPublicName(skill))
    return showDetails(context, skill, caller, document)
  const answer = toSkillResponse(skill, document, await findForkedFrom(context, skill, caller))
  // Cached only for anonymous callers, and only if nothing changed meanwhile. A fork is not cached: its source may
  // change without a notification here.
  if (isForAll && skill.forked_from === null && position === context.changes.position) {
    if (cacheKey === undefined) context.answers.put(name, skill.id, answer)
    // The transport replaces the JSON of a response under its own key, and still needs it for the current call.
    else context.answers.put(cacheKey, skill.id, new EncodedJson(answer.json, answer.etag))
  }
  return answer
}

/** GET /skills/<name>/versions: highest first, including yanked and recalled versions. */
export const listVersions: Operation<'listVersions', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const all = context.database.read.selectFrom('versions').where('skill_id', '=', skill.id)
  const { rows, paging } = await readPage(all, all.selectAll().orderBy('sort_key', 'desc'), input)
  const ids = rows.map(({ id }) => id)
  const files = await readFileRowsOfMany(context.database.read, ids)
  const scans = await readScansOfMany(context.database.read, ids)
  const uses = await showAccessOfMany(context.database.read, skill.id, ids)
  const toEvaluations = await readShownEvaluations(context.database.read, rows)
  const versions = rows.map((row) =>
    toSkillVersion(skill, row, files.get(row.id) ?? [], scans.get(row.id) ?? null, {
      ...uses.get(row.id)!,
      ...toEvaluations(row),
    }),
  )
  return { versions, ...paging }
}

/** GET /skills/<name>/versions/<version>: the version, with its files. */
export const showVersion: Operation<'getVersion', StorageContext> = async (context, input, caller) => {
  const skill = await getSkill(context, input.name, caller)
  const version = await getVersion(context, skill, input.version)
  const { read } = context.database
  const files = await readFileRows(read, version.id)
  const toEvaluations = await readShownEvaluations(read, [version])
  const uses = { ...(await showAccess(read, version)), ...toEvaluations(version) }
  return toSkillVersion(skill, version, files, await readScan(read, version.id), uses)
}

/** GET /skills/<name>/skill.md: the document as published. */
export const showSkillMd: Operation<'getSkillMd', CatalogueContext> = async (context, input, caller, options = {}) => {
  const { skill, version } = await getSkillVersion(context, input, caller)
  const files = await readFileRows(context.database.read, version.id)
  const digest = files[0]!.digest
  const body = await getBlob(context.database, digest)
  countDownload(context, { skill, version }, caller, options)
  return { contentType: 'text/markdown; charset=utf-8', body, etag: `"${digest}"` }
}

/** GET /skills/<name>/archive: a zip with the same bytes every time. */
export const showArchive: Operation<'getArchive', CatalogueContext> = async (context, input, caller, options = {}) => {
  const { skill, version } = await getSkillVersion(context, input, caller)
  const files = await readPackageFiles(context.database, version.id)
  countDownload(context, { skill, version }, caller, options)
  return {
    contentType: 'application/zip',
    body: writeZip(files),
    etag: `"zip-${version.digest}"`,
    filename: `${skill.name}-${version.version}.zip`,
  }
}

/** GET /skills/<name>/files/<path>: the bytes of a file of a version. */
export const showFile: Operation<'getFile', StorageContext> = async (context, input, caller) => {
  const { skill, version } = await getSkillVersion(context, input, caller)
  const file = await context.database.read
    .selectFrom('version_files')
    .select('digest')
    .where('version_id', '=', version.id)
    .where('path', '=', input.path)
    .executeTakeFirst()
  if (!file) throw new RegistryError('not_found', `${skill.full_name}@${version.version} has no file with this path.`)
  const contentType = toContentType(input.path)
  return {
    contentType,
    body: await getBlob(context.database, file.digest),
    etag: `"${file.digest}"`,
    filename: input.path.slice(input.path.lastIndexOf('/') + 1),
  }
}

/** The version of a skill by number, yanked or not; throws `not_found`. */
export async function getVersion(context: StorageContext, skill: SkillRow, number: string): Promise<VersionRow> {
  const version = await context.database.read
    .selectFrom('versions')
    .selectAll()
    .where('skill_id', '=', skill.id)
    .where('version', '=', number)
    .executeTakeFirst()
  if (!version) throw new RegistryError('not_found', `${skill.full_name} has no version '${number}'.`)
  return version
}

/** Which version of a skill a caller reads. */
interface ReadContent {
  readonly name: string
  /** Default: the latest. */
  readonly version?: string
  /** Whether a version may be read in spite of its recall. Default: false. */
  readonly allowRecalled?: boolean
}

/**
 * The skill and the version whose content a caller reads: the requested version, yanked or not, or the latest version.
 * Throws `recalled` for a recalled version unless `allowRecalled`.
 */
export async function getSkillVersion(context: StorageContext, input: ReadContent, caller: Caller) {
  const skill = await getSkill(context, input.name, caller)
  const number = input.version ?? skill.latest_version
  if (skill.stub === 1) {
    throw new RegistryError(
      'not_found',
      `${skill.full_name} is known by name only: its owner has not published it here.`,
    )
  }
  if (number === '') {
    throw new RegistryError(
      'not_found',
      `${skill.full_name} has no latest version because all are yanked or recalled. Request a version by its number.`,
    )
  }
  const version = await getVersion(context, skill, number)
  refuseRecalled(skill, version, input.allowRecalled)
  await refuseQuarantined(context.database.read, skill, version)
  return { skill, version }
}

async function showSkillAtVersion(context: StorageContext, skill: SkillRow, number: string, caller: Caller) {
  const version = await getVersion(context, skill, number)
  const files = await readFileRows(context.database.read, version.id)
  const scan = await readScan(context.database.read, version.id)
  const uses = await showAccess(context.database.read, version)
  const metadata = parseJson(version.metadata)
  const { frontmatter, contract, capabilities, displayName, description, license, keywords, summary } = metadata
  const { digest, size } = version
  const requires = readStoredRequires(version)
  const publishedAt = toTimestamp(version.published_at)
  // The owner's metadata and their scan apply to the version that describes the skill; other versions use the metadata
  // of their SKILL.md.
  const isDescribing = skill.described_by === number
  const own = isDescribing ? {} : { displayName, description, license, keywords }
  const security = scan && isDescribing ? joinScans(scan, skill.metadata_scan) : scan
  const { evaluations: _ofLatest, ...details } = await showDetails(context, skill, caller)
  const content = {
    digest,
    size,
    files,
    security,
    ...uses,
    ...toRecalledField(skill, version),
    ...(await readShownEvaluations(context.database.read, [version]))(version),
  }
  return { ...details, publishedAt, ...content, frontmatter, contract, capabilities, requires, summary, ...own }
}

/** Counts a download of a version by anyone but the owner, unless `counts` is false. */
export function countDownload(
  context: CatalogueContext,
  { skill, version }: { readonly skill: SkillRow; readonly version: Pick<VersionRow, 'version'> },
  caller: Caller,
  options: CallOptions,
): void {
  if (options.counts === false || isOwner(skill, caller)) return
  const used = { id: skill.id, ownerId: skill.owner_id, mirrored: toMirrored(skill) }
  context.counters.countDownload({ ...used, version: version.version }, { ...options, userId: callerId(caller) })
}
