import { compareFiles } from '@skillstead/protocol'
import type { Kysely } from 'kysely'
import { getBlob } from '../storage/blobs.ts'
import { keepCompiled } from '../storage/compiled-query.ts'
import type { Tables } from '../storage/tables.ts'

/** A file of a version: its path and the digest of its bytes. */
export interface FileRow {
  readonly path: string
  readonly size: number
  readonly digest: string
}

/** The files of a version, in order. */
export async function readFiles(db: Kysely<Tables>, versionId: string): Promise<FileRow[]> {
  return (await selectFiles(db, { versionId })).toSorted(compareFiles)
}

const selectFiles = keepCompiled((db, { versionId }: { versionId: string }) =>
  db.selectFrom('version_files').select(['path', 'size', 'digest']).where('version_id', '=', versionId),
)

/** The files of a version with their bytes, in order. */
export async function readPackageFiles(
  db: Kysely<Tables>,
  versionId: string,
): Promise<{ path: string; bytes: Uint8Array }[]> {
  const files: { path: string; bytes: Uint8Array }[] = []
  for (const { path, digest } of await readFiles(db, versionId)) files.push({ path, bytes: await getBlob(db, digest) })
  return files
}

/** The files of many versions by version id, each list in order, with one query. */
export async function readFilesOfMany(
  db: Kysely<Tables>,
  versionIds: readonly string[],
): Promise<Map<string, FileRow[]>> {
  if (versionIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('version_files')
    .select(['version_id', 'path', 'size', 'digest'])
    .where('version_id', 'in', versionIds)
    .execute()
  const files = new Map<string, FileRow[]>()
  for (const { version_id, ...file } of rows) {
    const list = files.get(version_id)
    if (list) list.push(file)
    else files.set(version_id, [file])
  }
  for (const list of files.values()) list.sort(compareFiles)
  return files
}
