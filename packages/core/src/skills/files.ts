import type { Kysely } from 'kysely'
import type { Tables } from '../storage/tables.ts'

/** A file of a version: where it lies, and under which digest its bytes are. */
export interface FileRow {
  readonly path: string
  readonly size: number
  readonly digest: string
}

/** The files of a version, in their order. */
export async function readFiles(db: Kysely<Tables>, versionId: string): Promise<FileRow[]> {
  const rows = await db
    .selectFrom('version_files')
    .select(['path', 'size', 'digest'])
    .where('version_id', '=', versionId)
    .execute()
  return rows.toSorted(compareFiles)
}

/** The files of many versions by the ids of these, each list in its order, with one query. */
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

/** SKILL.md first, the others by code unit: the order of manifests, archives and lists. */
export function compareFiles(a: { path: string }, b: { path: string }): number {
  if (a.path === b.path) return 0
  if (a.path === 'SKILL.md' || b.path === 'SKILL.md') return a.path === 'SKILL.md' ? -1 : 1
  return a.path < b.path ? -1 : 1
}
