import type { WriteTransaction } from '../storage/writer.ts'
import type { VersionContent, VersionMetadata } from './skill-document.ts'
import { findScan } from './stored-scans.ts'
import { readFiles } from './version-files.ts'

/** A transaction's cache of versions, by id. */
export type VersionContents = Map<string, VersionContent>

/** The content of a version, read at most once. */
export async function readContent(
  trx: WriteTransaction,
  versionId: string,
  contents: VersionContents,
): Promise<VersionContent> {
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
