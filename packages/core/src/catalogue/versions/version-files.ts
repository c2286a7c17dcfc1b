import { compareFiles, RegistryError } from '@skillstead/protocol'
import { findGitProblems } from '@skillstead/skill-format/archives'
import type { Kysely } from 'kysely'
import { isSliceOver, nextSlice } from '../../kernel/time-slices.ts'
import { type BlobSource, getBlob } from '../../storage/read-blobs.ts'
import { compileQuery, type Param } from '../../storage/compiled-query.ts'
import { parseJson, type SkillRow, type Tables, type VersionRow } from '../../storage/tables.ts'
import { findScan } from './inspection.ts'
import type { PackageFile } from './skill-package.ts'
import { toFileRow, type FileRow, type VersionContent } from './stored-version.ts'

export async function readFileRows(db: Kysely<Tables>, versionId: string): Promise<FileRow[]> {
  return (await selectFiles(db, { versionId })).map(toFileRow).toSorted(compareFiles)
}

const fileColumns = ['path', 'size', 'digest', 'executable'] as const

const selectFiles = compileQuery((db, param: Param<{ versionId: string }>) =>
  db.selectFrom('version_files').select(fileColumns).where('version_id', '=', param('versionId')),
)

/** The files of a version with their bytes, in order. */
export async function readPackageFiles(source: BlobSource, versionId: string) {
  const files: PackageFile[] = []
  for (const { path, digest, executable = false } of await readFileRows(source.read, versionId)) {
    files.push({ path, bytes: await getBlob(source, digest), executable })
    if (isSliceOver()) await nextSlice()
  }
  return files
}

/** Versions per query: each may have 512 files, and a query of SQLite blocks the event loop. */
const versionsPerQuery = 20

/** The files of many versions by version id, each list in order. Yields to other requests between queries. */
export async function readFileRowsOfMany(db: Kysely<Tables>, versionIds: readonly string[]) {
  const files = new Map<string, FileRow[]>()
  for (let at = 0; at < versionIds.length; at += versionsPerQuery) {
    if (isSliceOver()) await nextSlice()
    const ids = versionIds.slice(at, at + versionsPerQuery)
    const rows = await db
      .selectFrom('version_files')
      .select(['version_id', ...fileColumns])
      .where('version_id', 'in', ids)
      .execute()
    for (const { version_id, ...row } of rows) {
      const file = toFileRow(row)
      const list = files.get(version_id)
      if (list) list.push(file)
      else files.set(version_id, [file])
    }
    for (const id of ids) files.get(id)?.sort(compareFiles)
  }
  return files
}

/** A transaction's cache of versions, by id. */
export type VersionContents = Map<string, VersionContent>

/** The content of a version, from `contents` if it was read before. */
export async function readVersionContent(
  db: Kysely<Tables>,
  versionId: string,
  contents: VersionContents,
): Promise<VersionContent> {
  const read = contents.get(versionId)
  if (read) return read
  const row = await db.selectFrom('versions').select('metadata').where('id', '=', versionId).executeTakeFirstOrThrow()
  const content = {
    metadata: parseJson(row.metadata),
    files: await readFileRows(db, versionId),
    scan: await findScan(db, versionId),
  }
  contents.set(versionId, content)
  return content
}

/**
 * Throws `not_found` for a version with files that git would use as a repository, whose config can run commands.
 * Publishing refuses such paths, but older versions may have them. A rescan yanks such versions; their details and
 * findings stay visible.
 */
export async function refuseQuarantined(
  db: Kysely<Tables>,
  { full_name: fullName }: Pick<SkillRow, 'full_name'>,
  { id, version }: Pick<VersionRow, 'id' | 'version'>,
): Promise<void> {
  const problem = await findGitProblem(db, id)
  if (!problem) return
  const { path, message } = problem
  throw new RegistryError('not_found', `${fullName}@${version} is quarantined. ${path}: ${message}`)
}

/**
 * Returns a function that tests by version id whether {@link refuseQuarantined} throws, and reads each version once.
 */
export function createQuarantineCheck(db: Kysely<Tables>): (versionId: string) => Promise<boolean> {
  const known = new Map<string, boolean>()
  return async (versionId) => {
    const isQuarantined = known.get(versionId) ?? (await findGitProblem(db, versionId)) !== undefined
    known.set(versionId, isQuarantined)
    return isQuarantined
  }
}

async function findGitProblem(db: Kysely<Tables>, versionId: string) {
  return findGitProblems((await readFileRows(db, versionId)).map(({ path }) => path))[0]
}

/**
 * Media types of published files. Anything that a browser could run as a page is served as plain bytes, except SVG: as
 * the picture of a page it runs nothing, and opened by itself it is a download without an origin (`toContentHeaders`).
 */
const mediaTypes: Record<string, string> = {
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
  py: 'text/plain; charset=utf-8',
  sh: 'text/plain; charset=utf-8',
  ts: 'text/plain; charset=utf-8',
  js: 'text/plain; charset=utf-8',
  yaml: 'text/plain; charset=utf-8',
  yml: 'text/plain; charset=utf-8',
  toml: 'text/plain; charset=utf-8',
  csv: 'text/plain; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  zip: 'application/zip',
}

export function toContentType(path: string): string {
  const dot = path.lastIndexOf('.')
  return mediaTypes[path.slice(dot + 1).toLowerCase()] ?? 'application/octet-stream'
}
