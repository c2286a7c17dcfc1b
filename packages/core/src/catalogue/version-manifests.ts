import { toManifest } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import { readFiles } from './version-files.ts'

/**
 * The manifest whose digest is that of a version, so that clients can compare it with the version's log entry. Only for
 * public skills in the given state.
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
