import { RegistryError, type Provenance } from '@skillstead/protocol'
import type { CatalogueContext } from './catalogue-context.ts'
import { isPublicMatter } from './skill-log.ts'
import type { SkillRow, VersionRow } from '../storage/tables.ts'
import { readSignedCheckpoint } from '../log/checkpoint.ts'
import { proveInclusion } from '../log/log-proofs.ts'

/**
 * The proof that the log holds a version; null for what is not public, of which the log has nothing. Of a mirrored skill
 * it is that of the node which it comes from, made of what is here of its log.
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
  if (!found) throw new RegistryError('internal', `The log of this node has no entry of ${subject}, and should.`)
  const { entry, index } = found
  // Read after the entry, the checkpoint is of a tree that has it.
  const { origin, treeSize, rootHash, timeless: checkpoint } = await readSignedCheckpoint(context)
  const { leafHash, inclusionProof } = await proveInclusion(context, index, treeSize)
  return { origin, index, treeSize, leafHash, rootHash, inclusionProof, checkpoint, entry }
}

/** The newest of its entries: there is one more whenever the skill came into public sight again. */
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
