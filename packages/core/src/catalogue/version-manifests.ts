import { toManifest } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import { readFiles } from './version-files.ts'

/**
 * The list of files whose digest is that of a version, which anybody can compare with the log's entry of the version:
 * that of public skills in the given state alone.
 */
export async function findPublicManifest(
  { database }: CatalogueContext,
  digest: string,
  state: 'live' | 'taken_down',
): Promise<Uint8Array | undefined> {
  const version = await database.read
    .selectFrom('versions')
    .innerJoin('skills', 'skills.id', 'versions.skill_id')
    .select('versions.id')
    .where('versions.digest', '=', digest)
    .where('skills.visibility', '=', 'public')
    .where('skills.state', '=', state)
    .limit(1)
    .executeTakeFirst()
  return version && Buffer.from(toManifest(await readFiles(database.read, version.id)))
}
