import { RegistryError, type Provenance } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import { isPublicMatter } from './skill-log.ts'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import { readSignedCheckpoint } from '../log/checkpoint.ts'
import { proveInclusion } from '../log/log-proofs.ts'

/**
 * The inclusion proof of a version; null for a version that is not public, since the log has no entry for it. For a
 * mirrored skill it is a proof in the upstream's log, built from the local copy of that log.
 */
export async function proveVersion(
  context: CatalogueContext,
  skill: SkillRow,
  { version }: Pick<VersionRow, 'version'>,
): Promise<Provenance['log']> {
  if (!isPublicMatter(skill)) return null
  const subject = `${skill.full_name}@${version}`
  if (skill.origin_kind === 'mirror') {
    const upstream = await context.upstreamLogs.proveVersion(context.database.read, skill, subject)
    if (upstream) return upstream
  }
  const found = await findEntry(context, subject)
  if (!found) throw new RegistryError('internal', `The entry of ${subject} is missing from this node's log.`)
  const { entry, index } = found
  // Read after the entry, so that the checkpoint is of a tree that includes it.
  const { origin, treeSize, rootHash, timeless: checkpoint } = await readSignedCheckpoint(context)
  const { leafHash, inclusionProof } = await proveInclusion(context, index, treeSize)
  return { origin, index, treeSize, leafHash, rootHash, inclusionProof, checkpoint, entry }
}

/** The newest of its entries: each time the skill becomes public again, the log gets another one. */
async function findEntry(
  context: CatalogueContext,
  subject: string,
): Promise<{ entry: string; index: number } | undefined> {
  const row = await context.database.read
    .selectFrom('log')
    .select(['seq', 'entry'])
    .where('subject', '=', subject)
    .where('type', '=', 'version')
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { entry: row.entry, index: row.seq - 1 }
}
